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
  partial: "Faltan resultados: no se pudo cargar una parte de la búsqueda.",
  stopped: "La búsqueda se detuvo por un error.",
  wordless: "Escriba al menos una palabra.",
  unsupported: "Este navegador no permite esta búsqueda.",
  why: "¿Por qué estos resultados?",
  found: "Encontrado aquí: {q}",
  alike: "De significado parecido: {q}",
  absent: "No está aquí, o es demasiado común para buscarlo: {q}",
  whole: "Cercano a su pregunta en conjunto",
  modes: {
    words: "Encontrado solo por sus palabras.",
    table: "Encontrado por sus palabras y, mediante tablas, por su significado.",
    full: "Encontrado por sus palabras y por el significado de toda la pregunta, que ha leído una red lingüística en su dispositivo.",
  },
  retry: "Reintentar",
  more: "Mostrar más",
  recent: "Búsquedas recientes",
  clear: "Borrar búsquedas recientes",
  close: "Cerrar",
};

export default words;
