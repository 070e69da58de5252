import type { Words } from "../words.js";

const words: Words = {
  quotes: ["«", "»"],
  results: { one: "{n} resultado para {q}", other: "{n} resultados para {q}" },
  none: "No hay resultados para {q}.",
  hint: "Pruebe con otras palabras o con menos.",
  near: "¿Quiso decir {q}?",
  loading: "Cargando la búsqueda…",
  network: "Cargando la red lingüística… {n}",
  unreachable: "No se pudo cargar la búsqueda. Compruebe su conexión.",
  damaged: "La búsqueda no funciona: sus archivos en este sitio están dañados o desactualizados.",
  stopped: "La búsqueda se detuvo por un error.",
  wordless: "Escriba al menos una palabra.",
  unsupported: "Este navegador no permite esta búsqueda.",
  retry: "Reintentar",
  more: "Mostrar más",
  recent: "Búsquedas recientes",
  clear: "Borrar búsquedas recientes",
  close: "Cerrar",
};

export default words;
