// A chat window in the corner of any page of the same site:
//   <script src="/bot/static/embed.js" data-bot="shop" data-title="Ask us" defer></script>
"use strict";

(() => {
  const script = document.currentScript;
  const base = new URL("..", script.src).pathname.replace(/\/$/, "");
  const bot = script.dataset.bot || "bot";
  const storageKey = `noisybayes-${bot}`;
  // randomUUID is missing on pages without https
  const random = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (each) => each.toString(16).padStart(2, "0")).join("");
  const person = localStorage.getItem(storageKey) || `web-${random()}`;
  localStorage.setItem(storageKey, person);
  const address = `${base}/api/bots/${encodeURIComponent(bot)}`;
  let after = 0;

  const add = (name, parent, styles = {}, text = "") => {
    const element = document.createElement(name);
    Object.assign(element.style, styles);
    element.textContent = text;
    parent.append(element);
    return element;
  };
  const box = add("section", document.body, {
    position: "fixed", right: "1rem", bottom: "1rem", width: "20rem", maxHeight: "70vh", display: "flex",
    flexDirection: "column", background: "#fff", color: "#222", border: "1px solid #888", borderRadius: ".5rem",
    font: "1rem/1.4 system-ui, sans-serif", zIndex: "1000",
  });
  box.id = "noisybayes-chat";
  box.setAttribute("aria-label", script.dataset.title || "Chat");
  add("strong", box, { padding: ".5rem .75rem" }, script.dataset.title || "Chat");
  const log = add("div", box, { overflowY: "auto", padding: "0 .75rem", flex: "1" });
  log.setAttribute("role", "log");
  const form = add("form", box, { display: "flex", gap: ".5rem", padding: ".5rem" });
  const field = add("input", form, { flex: "1", minWidth: "0" });
  field.setAttribute("aria-label", "Message");
  field.maxLength = 2000;
  add("button", form, {}, script.dataset.send || "Send");

  const show = (text, own) => {
    const line = add("p", log, { margin: ".4rem 0", textAlign: own ? "right" : "left" }, text);
    line.className = own ? "own" : "reply";
    log.scrollTop = log.scrollHeight;
  };

  // resent with the same id until the server accepts it, so that no message is lost or answered twice
  const send = async (body) => {
    for (let pause = 1000; ; pause = Math.min(2 * pause, 30000)) {
      try {
        const answer = await fetch(`${address}/messages`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        });
        if (answer.status < 500 && answer.status !== 429) return await answer.json();
      } catch {
        // network error: try again
      }
      await new Promise((done) => setTimeout(done, pause));
    }
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const message = field.value.trim();
    if (!message) return;
    field.value = "";
    show(message, true);
    const answer = await send({ message_id: random(), person, message });
    if (answer.reply || answer.detail) show(answer.reply || answer.detail, false);
  });

  const poll = async () => {
    try {
      const answer = await fetch(`${address}/replies?person=${encodeURIComponent(person)}&after=${after}`);
      if (answer.ok) {
        for (const each of await answer.json()) {
          after = Math.max(after, each.id);
          show(each.reply, false);
        }
      }
    } catch {
      // network error: try again later
    }
    setTimeout(poll, 3000);
  };
  poll();
})();
