// The OpenAPI document, for people.

import { get } from "./api.js";
import { attempt, make, table } from "./dom.js";

/** @param {any} document_ @param {any} schema @returns {any} */
function resolve(document_, schema) {
  const name = schema?.$ref?.split("/").at(-1);
  return name ? document_.components.schemas[name] : schema;
}

/** @param {any} schema @returns {string} */
function kind(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.oneOf)
    return schema.oneOf
      .map(kind)
      .filter((/** @type {string} */ name) => name !== "null")
      .join(" or ");
  const type = [schema.type]
    .flat()
    .filter((name) => name && name !== "null")
    .join(" or ");
  return type === "array" ? `list of ${kind(schema.items)}` : type;
}

/** @param {any} document_ @param {any} schema @param {string} caption */
function fields(document_, schema, caption) {
  const resolved = resolve(document_, schema);
  if (!resolved?.properties) return make("p", {}, `${caption}: ${kind(schema)}`);
  const rows = Object.entries(resolved.properties).map(([name, field]) => [
    name,
    kind(field),
    /** @type {any} */ (field).description ?? "",
  ]);
  return table(["Field", "Type", "Meaning"], rows, caption);
}

await attempt(async () => {
  const description = await get("v1/openapi.json");
  const view = document.getElementById("view");
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(/** @type {Record<string, any>} */ (methods))) {
      const body = Object.values(operation.requestBody?.content ?? {})[0];
      const success = Object.entries(operation.responses).find(([status]) => status.startsWith("2"));
      const answer = Object.values(success?.[1]?.content ?? {})[0];
      const parameters = (operation.parameters ?? []).map((/** @type {any} */ parameter) => [
        parameter.name,
        kind(parameter.schema),
        parameter.description ?? "",
      ]);
      const others = Object.keys(operation.responses).filter((status) => !status.startsWith("2"));
      view?.append(
        make(
          "details",
          {},
          make(
            "summary",
            {},
            make("code", {}, `${method.toUpperCase()} ${path}`),
            ` ${operation.summary ?? ""}`,
          ),
          parameters.length ? table(["Parameter", "Type", "Meaning"], parameters, "Parameters") : null,
          body ? fields(description, body.schema, "Body") : null,
          body?.example ? make("pre", {}, JSON.stringify(body.example, null, 2)) : null,
          answer ? fields(description, answer.schema, `Answer ${success?.[0]}`) : null,
          others.length ? make("p", { class: "soft" }, `Other statuses: ${others.join(", ")}`) : null,
        ),
      );
    }
  }
});
