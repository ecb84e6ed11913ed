// Keeps the queue up to date by server-sent events, with a sound if wanted.
"use strict";

(() => {
  const queue = document.getElementById("queue");
  const sound = document.getElementById("sound");
  sound.checked = localStorage.getItem("noisybayes-sound") === "yes";
  sound.addEventListener("change", () => localStorage.setItem("noisybayes-sound", sound.checked ? "yes" : "no"));

  const beep = () => {
    const context = new AudioContext();
    const tone = context.createOscillator();
    tone.connect(context.destination);
    tone.start();
    tone.stop(context.currentTime + 0.2);
  };

  let last = null;
  new EventSource("/api/handovers/events").addEventListener("queue", async (event) => {
    const { waiting, changed } = JSON.parse(event.data);
    const isNew = last !== null && waiting && changed > last;
    last = changed;
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    queue.replaceChildren(...page.getElementById("queue").childNodes);
    if (sound.checked && isNew) beep();
  });
})();
