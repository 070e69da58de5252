/** The switch of modes and the example questions. */
const search = document.querySelector("siskin-search");

for (const radio of document.querySelectorAll('input[name="mode"]')) {
  radio.addEventListener("change", () => search.setAttribute("mode", radio.value));
}

for (const button of document.querySelectorAll(".examples button")) {
  button.addEventListener("click", () => {
    search.value = button.textContent;
    search.focus();
  });
}
