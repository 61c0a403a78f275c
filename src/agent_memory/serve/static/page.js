// Keys. Everything works without them: each presses a button or a link that is on the page.
"use strict";

const chosen = () => document.querySelector("[data-item].chosen") || document.querySelector("[data-item]");

function choose(item) {
  if (!item) return;
  document.querySelectorAll("[data-item].chosen").forEach((each) => each.classList.remove("chosen"));
  item.classList.add("chosen");
  item.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const items = [...document.querySelectorAll("[data-item]")];
  choose(items[Math.min(Math.max(items.indexOf(chosen()) + by, 0), items.length - 1)]);
}

document.addEventListener("keydown", (event) => {
  const field = event.target.closest("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  if (event.key === "j" || event.key === "k") {
    step(event.key === "j" ? 1 : -1);
    event.preventDefault();
    return;
  }
  const selector = `[data-key="${CSS.escape(event.key)}"]`;
  const found = (chosen() && chosen().querySelector(selector)) || document.querySelector(selector);
  if (!found || event.repeat) return;
  event.preventDefault();
  if (found.matches("input")) found.select();
  else found.click();
});

const begin = () => choose(document.querySelector("[data-item]"));
document.addEventListener("DOMContentLoaded", begin);
document.addEventListener("htmx:afterSettle", begin);
