/** Languages that the box speaks, each with what a search box is called in it; the rest comes from
 * `words/` once somebody searches. */
const NAMES =
  "en Search,de Suche,fr Rechercher,es Buscar,pt Pesquisar,it Cerca,nl Zoeken,pl Szukaj,ru Поиск,ja 検索,zh 搜索,ko 검색,ar بحث,he חיפוש";

/** The language of the box for a page in the language `tag`: English where it speaks no other. */
export function languageOf(tag: string): string {
  const language = /^[a-z]*/i.exec(tag)?.[0].toLowerCase() ?? "";
  return language.length === 2 && NAMES.includes(`${language} `) ? language : "en";
}

/** Name of a search box in a language of {@link languageOf}. */
export function nameIn(language: string): string {
  return NAMES.split(`${language} `)[1]?.split(",")[0] ?? "";
}
