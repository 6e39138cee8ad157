// Password fields: a button shows what is typed, and a meter judges a new password as the server will.
"use strict";

// The longest start that the server judges.
const JUDGED = 36;

for (const field of document.querySelectorAll("input[type=password][name]")) {
  addReveal(field);
  if (field.dataset.judge) addMeter(field);
}

function addReveal(field) {
  const words = JSON.parse(field.dataset.words);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet reveal";
  button.setAttribute("aria-controls", field.id);
  const show = (isShown) => {
    field.type = isShown ? "text" : "password";
    button.textContent = isShown ? words.hide : words.show;
  };
  show(false);
  button.addEventListener("click", () => show(field.type === "password"));
  // Browsers remember what text fields had.
  field.form.addEventListener("submit", () => show(false));
  field.after(button);
}

function addMeter(field) {
  const words = JSON.parse(field.dataset.words);
  const meter = Object.assign(document.createElement("meter"), { max: 4, low: 2, high: 3, optimum: 4, hidden: true });
  const word = document.createElement("p");
  // Readers hear the word.
  meter.setAttribute("aria-hidden", "true");
  word.className = "hint";
  word.setAttribute("aria-live", "polite");
  field.after(meter, word);
  field.addEventListener("input", async () => {
    const { judge } = await import(field.dataset.judge);
    const about = [...field.form.querySelectorAll("[autocomplete=username], [autocomplete=name]")];
    const known = ["duograph", ...about.flatMap((each) => [each.value, ...each.value.split("@")]).filter(Boolean)];
    const { score } = judge(field.value.slice(0, JUDGED), known);
    const isShort = field.value.length < field.minLength;
    meter.hidden = field.value === "";
    meter.value = isShort ? Math.min(score, 1) : score;
    word.textContent = field.value === "" ? "" : isShort ? words.short : words.scores[score];
  });
}
