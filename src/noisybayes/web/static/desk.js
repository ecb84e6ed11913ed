// Keyboard shortcuts, and the progress bar of a running fit. The pages also work without JavaScript.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input, select, textarea")) return;
  const key = CSS.escape(event.key);
  const focus = document.querySelector(`[data-focus="${key}"]`);
  const press = document.querySelector(`[data-key="${key}"]`);
  if (!focus && !press) return;
  event.preventDefault();
  if (focus) focus.focus();
  else press.click();
});

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!confirm(form.dataset.confirm)) event.preventDefault();
  });
}

// a double click must not send a verdict twice: the second one would be a conflict
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}

// a fragment in the URL would scroll too, but take the focus away from the field
document.getElementById("last")?.scrollIntoView({ block: "nearest" });

// typing selects a label: the one with this name, else the first that starts with it, else that contains it
for (const form of document.querySelectorAll("form.search")) {
  const field = form.querySelector("input[list]");
  const labels = [...document.querySelectorAll(`#${field.getAttribute("list")} option`)].map((option) => option.value);
  const shown = form.querySelector(".match");
  const match = () => {
    const typed = field.value.trim().toLowerCase();
    if (!typed) return "";
    return labels.find((label) => label.toLowerCase() === typed) ?? labels.find((label) => label.toLowerCase().startsWith(typed))
      ?? labels.find((label) => label.toLowerCase().includes(typed)) ?? "";
  };
  field.addEventListener("input", () => { shown.textContent = field.value ? match() || "no matching label" : ""; });
  field.addEventListener("keydown", (event) => { if (event.key === "Escape") field.blur(); });
  form.addEventListener("submit", (event) => {
    if (match()) field.value = match();
    else event.preventDefault();
  }, true);
}

// the note is sent with every verdict; Enter leaves the field so that the shortcuts work again
const note = document.getElementById("note");
note?.addEventListener("keydown", (event) => {
  if ((event.key !== "Enter" || event.shiftKey) && event.key !== "Escape") return;
  event.preventDefault();
  note.blur();
});
for (const form of document.querySelectorAll("form.search")) {
  form.addEventListener("submit", () => { form.elements.note.value = note.value; });
}

for (const select of document.querySelectorAll("select[data-submit]")) {
  select.addEventListener("change", () => select.form.submit());
}

const all = document.getElementById("all");
all?.addEventListener("change", () => {
  for (const box of document.querySelectorAll("#rows input[name=position]")) box.checked = all.checked;
});

const fit = document.getElementById("fit");
if (fit) watch(fit);

async function watch(fit) {
  const bar = document.getElementById("fit-bar");
  const stage = document.getElementById("fit-stage");
  for (;;) {
    await new Promise((done) => setTimeout(done, 500));
    let state;
    try {
      state = await (await fetch(`/api/tables/${fit.dataset.table}`)).json();
    } catch {
      stage.textContent = "The server is not responding";
      continue;
    }
    if (state.running && state.running.id === Number(fit.dataset.fit)) {
      bar.value = state.running.share;
      stage.textContent = `Fitting: ${state.running.stage}`;
      continue;
    }
    if (document.querySelector("[data-reload]")) {
      location.reload();
      return;
    }
    bar.value = 1;
    const failed = !state.fit || state.fit.id !== Number(fit.dataset.fit);
    stage.textContent = failed ? "The fit failed." : "";
    const link = document.getElementById("fit-done");
    link.href = location.pathname;
    link.textContent = failed ? "Reload the page" : "The fit is done. Show the updated queue";
    link.hidden = false;
    return;
  }
}
