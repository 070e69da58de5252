// @ts-check

/** What an option may be: `boolean`, `text`, or the values that there are.
 * @type {Record<string, "boolean" | "text" | "limit" | string[]>} */
const KINDS = {
  modal: "boolean",
  mode: ["words", "table", "full"],
  encoder: ["off", "idle", "on-open"],
  limit: "limit",
  label: "text",
  placeholder: "text",
  shortcuts: "text",
  "query-parameter": "text",
  "text-fragments": ["off"],
  recent: "boolean",
};

/** @type {typeof import("./options.d.ts").boxAttributes} */
export function boxAttributes(options, place) {
  /** @type {Record<string, string>} */
  const attributes = { modal: "" };
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(KINDS, name)) {
      const names = Object.keys(KINDS).join(", ");
      throw new Error(`${place}: there is no option ${name}; there are ${names}`);
    }
    if (value === undefined || value === null) continue;
    const { attribute, wanted } = read(KINDS[name], value);
    if (wanted !== undefined) throw new Error(`${place}: ${name} must be ${wanted}`);
    if (attribute === undefined) delete attributes[name];
    else attributes[name] = attribute;
  }
  return attributes;
}

/** The attribute that says `value`, none for false; or what a value of this kind would be, if it is none.
 * @param {typeof KINDS[string]} kind
 * @param {unknown} value
 * @returns {{ attribute?: string, wanted?: string }} */
function read(kind, value) {
  if (kind === "boolean") {
    if (value === false) return {};
    return value === true ? { attribute: "" } : { wanted: "true or false" };
  }
  if (kind === "text")
    return typeof value === "string" ? { attribute: value } : { wanted: "a text" };
  if (kind === "limit") {
    const is_limit = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100;
    return is_limit ? { attribute: String(value) } : { wanted: "a number from 1 to 100" };
  }
  // The word off, in YAML.
  const word = value === false ? "off" : value;
  const found = kind.find((known) => known === word);
  return found === undefined ? { wanted: `one of ${kind.join(", ")}` } : { attribute: found };
}

/** @type {typeof import("./options.d.ts").scriptAddress} */
export function scriptAddress(base) {
  return `${base.replace(/\/?$/, "/")}siskin/siskin.js`;
}
