import { usePluginData } from "@docusaurus/useGlobalData";
import { createElement } from "react";

/** Stands where the classic theme's bar has room for a search. */
export default function SearchBar() {
  const { attributes } = usePluginData("@siskin/docusaurus");
  return createElement("siskin-search", attributes);
}
