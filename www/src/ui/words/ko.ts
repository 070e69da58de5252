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
  stopped: "오류 때문에 검색이 중지되었습니다.",
  wordless: "단어를 하나 이상 입력하세요.",
  unsupported: "이 브라우저에서는 이 검색을 사용할 수 없습니다.",
  retry: "다시 시도",
  more: "더 보기",
  recent: "최근 검색",
  clear: "최근 검색 지우기",
  close: "닫기",
};

export default words;
