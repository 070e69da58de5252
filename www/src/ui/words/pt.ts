import type { Words } from "../words.js";

const words: Words = {
  quotes: ["“", "”"],
  results: { one: "{n} resultado para {q}", other: "{n} resultados para {q}" },
  none: "Nenhum resultado para {q}.",
  hint: "Tente outras palavras ou menos palavras.",
  near: "Você quis dizer {q}?",
  loading: "Carregando a pesquisa…",
  network: "Carregando a rede linguística… {n}",
  unreachable: "Não foi possível carregar a pesquisa. Verifique sua conexão.",
  damaged: "A pesquisa não funciona: seus arquivos neste site estão danificados ou desatualizados.",
  partial: "Faltam resultados: não foi possível carregar parte da pesquisa.",
  stopped: "A pesquisa parou por causa de um erro.",
  wordless: "Digite pelo menos uma palavra.",
  unsupported: "Este navegador não permite esta pesquisa.",
  why: "Por que estes resultados?",
  found: "Encontrado aqui: {q}",
  alike: "De sentido parecido: {q}",
  absent: "Não está aqui, ou é comum demais para ser procurado: {q}",
  whole: "Próximo da sua pergunta como um todo",
  modes: {
    words: "Encontrado apenas pelas suas palavras.",
    table: "Encontrado pelas suas palavras e, por meio de tabelas, pelo sentido delas.",
    full: "Encontrado pelas suas palavras e pelo sentido de toda a pergunta, lida por uma rede linguística no seu dispositivo.",
  },
  retry: "Tentar novamente",
  more: "Mostrar mais",
  recent: "Pesquisas recentes",
  clear: "Limpar pesquisas recentes",
  close: "Fechar",
};

export default words;
