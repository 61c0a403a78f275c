# Options for every key of the config, made from its published schema (docs/config.schema.json, which is made from the code).
{ lib }:
let
  inherit (lib) types;
  schema = builtins.fromJSON (builtins.readFile ../docs/config.schema.json);

  within =
    node: base:
    let
      least = node.minimum or null;
      above = node.exclusiveMinimum or null;
      most = node.maximum or null;
      fits =
        value:
        (least == null || value >= least) && (above == null || value > above) && (most == null || value <= most);
      bounds = lib.concatStringsSep ", " (
        lib.optional (least != null) "at least ${toString least}"
        ++ lib.optional (above != null) "above ${toString above}"
        ++ lib.optional (most != null) "at most ${toString most}"
      );
    in
    if bounds == "" then base else types.addCheck base fits // { description = "${base.description}, ${bounds}"; };

  typeOf =
    node:
    if node ? enum then
      types.enum node.enum
    else if node ? anyOf then
      let
        isNull = each: (each.type or null) == "null";
        others = map typeOf (lib.filter (each: !isNull each) node.anyOf);
        one = if lib.length others == 1 then lib.head others else types.oneOf others;
      in
      if lib.any isNull node.anyOf then types.nullOr one else one
    else if node.type == "object" then
      if node ? properties then
        types.submodule { options = optionsOf node; }
      else
        types.attrsOf (typeOf node.additionalProperties)
    else if node.type == "array" then
      types.listOf (typeOf node.items)
    else
      {
        string = types.str;
        boolean = types.bool;
        integer = within node types.int;
        number = within node types.number;
      }
      .${node.type};

  optionOf =
    required: name: node:
    lib.mkOption (
      {
        type = typeOf node;
        description = node.description or "See `memory config --help`.";
      }
      // (
        if node ? default then
          { inherit (node) default; }
        else
          lib.optionalAttrs (node ? properties) { default = { }; }
      )
    );

  optionsOf =
    node: lib.mapAttrs (optionOf (node.required or [ ])) (removeAttrs node.properties [ "$schema" ]);

  # What differs from the defaults: a default that changes with the program is not held back by an old config.
  changed =
    node: value:
    lib.filterAttrs (_: each: each != { }) (
      lib.mapAttrs (name: each: changed node.properties.${name} each) (
        lib.filterAttrs (name: _: node.properties.${name} ? properties) value
      )
    )
    // lib.filterAttrs (
      name: each: !(node.properties.${name} ? properties) && each != (node.properties.${name}.default or null)
    ) value;
in
{
  options = optionsOf schema;
  document = settings: builtins.toJSON (changed schema settings);
  isDefault = settings: changed schema settings == { };
}
