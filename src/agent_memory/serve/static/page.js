// Keys: each presses a button or a link that is on the page, and everything works without. And a word where no server answers.
"use strict";

let at = 0; // Stays when an item is decided: the next one takes its place.

const chosen = () => document.querySelector("[data-item].chosen");

function choose(by) {
  const items = [...document.querySelectorAll("[data-item]")];
  at = Math.max(Math.min(at + by, items.length - 1), 0);
  items.forEach((each, number) => each.classList.toggle("chosen", number === at));
  if (items.length && (by || at)) items[at].scrollIntoView({ block: "nearest" }); // A page begins at its top.
  if (items.length && by) items[at].focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  const field = event.target.closest("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  if (event.key === "j" || event.key === "k") {
    choose(event.key === "j" ? 1 : -1);
    event.preventDefault();
    return;
  }
  const selector = `[data-key="${CSS.escape(event.key)}"]`;
  const found = (chosen() && chosen().querySelector(selector)) || document.querySelector(selector);
  if (!found || event.repeat) return;
  event.preventDefault();
  if (found.matches("input")) found.select();
  else found.click();
  if (found.matches("summary")) found.parentElement.querySelector("textarea").focus();
});

document.addEventListener("DOMContentLoaded", () => choose(0));
document.addEventListener("htmx:afterSettle", () => choose(0));

document.addEventListener("htmx:sendError", () => {
  const said = document.querySelector(".gone") || document.createElement("p");
  said.className = "refusal gone";
  said.setAttribute("role", "alert");
  said.textContent = "The server does not answer. Start `memory serve` again, and open the address that it prints.";
  document.getElementById("main").prepend(said);
  said.scrollIntoView();
});
