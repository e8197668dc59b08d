// What a screen reader says that eyes see otherwise, and where the focus goes when what had it goes away.
const box = document.getElementById('spoken');
let waiting = 0;

// speak has it said after a moment, so that of several in a row the last one counts, and the same text
// twice is said twice.
export function speak(text, after = 50) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    box.textContent = '';
    requestAnimationFrame(() => { box.textContent = text; });
  }, after);
}

// keepFocus does what may take away, hide or disable what has the focus, and gives it then to the first
// of those that follow that can have it: a keyboard's user would else be back at the top of the page.
export async function keepFocus(change, ...next) {
  const had = document.activeElement;
  await change();
  if (had === document.body) return;
  if (document.activeElement === had && had.isConnected && !had.disabled && had.offsetParent !== null) return;
  if (document.activeElement !== document.body && document.activeElement !== had) return; // it went elsewhere
  next.map((n) => (typeof n === 'function' ? n() : n)).find((e) => e && !e.disabled && e.offsetParent !== null)?.focus();
}
