import { useAllPluginInstancesData } from "@docusaurus/useGlobalData";
import { createElement } from "react";

/** Stands where the classic theme's bar has room for a search. */
export default function SearchBar() {
  // Whatever `id` the theme was given.
  const [data] = Object.values(useAllPluginInstancesData("@siskin/docusaurus"));
  return createElement("siskin-search", data?.attributes);
}
