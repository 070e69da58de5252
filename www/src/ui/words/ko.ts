import type { Words } from "../words.js";

const words: Words = {
  quotes: ["‘", "’"],
  results: { other: "{q} 검색 결과 {n}개" },
  none: "{q} 검색 결과가 없습니다.",
  hint: "다른 단어를 쓰거나 단어 수를 줄여 보세요.",
  near: "다음을 찾으셨나요? {q}",
  loading: "검색을 불러오는 중…",
  network: "언어 네트워크를 불러오는 중… {n}",
  unreachable: "검색을 불러오지 못했습니다. 연결을 확인하세요.",
  damaged: "검색을 사용할 수 없습니다. 이 사이트의 검색 파일이 손상되었거나 오래되었습니다.",
  partial: "일부 결과가 빠져 있습니다. 검색의 일부를 불러오지 못했습니다.",
  stopped: "오류 때문에 검색이 중지되었습니다.",
  wordless: "단어를 하나 이상 입력하세요.",
  unsupported: "이 브라우저에서는 이 검색을 사용할 수 없습니다.",
  why: "왜 이 결과인가요?",
  found: "여기에 있는 단어: {q}",
  alike: "뜻이 비슷한 단어: {q}",
  absent: "여기에 없거나 너무 흔해서 찾지 않은 단어: {q}",
  whole: "전체적으로 질문과 가깝습니다",
  modes: {
    words: "입력한 단어로만 찾았습니다.",
    table: "입력한 단어와, 표에서 찾은 그 뜻으로 찾았습니다.",
    full: "입력한 단어와 질문 전체의 뜻으로 찾았습니다. 질문은 이 기기의 언어 네트워크가 읽었습니다.",
  },
  retry: "다시 시도",
  more: "더 보기",
  recent: "최근 검색",
  clear: "최근 검색 지우기",
  close: "닫기",
};

export default words;
