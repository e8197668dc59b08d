// Sounds on keys, over each other, by Web Audio, so that a key is heard at once and loops are exact.
// Keys count only while the focus is among them: single letters elsewhere belong to the browser, to
// screen readers and to the search.
import { el, get, playable, soundURL } from './api.js';
import { keepFocus, speak } from './speak.js';

const names = '123456789abcdefghijklmnopqrstuvwxyz';
const pads = document.getElementById('pads');

let context = null;
let entries = [], generation = 0, failed = () => {};
const loaded = new Map(); // index -> promise of an AudioBuffer
const playing = new Map(); // index -> Set of sources
const looping = new Map(); // index -> source

export function setup(onError) {
  failed = onError;
  document.getElementById('keys').addEventListener('keydown', pressed);
  document.getElementById('keys').addEventListener('click', (e) => { if (!e.target.closest('button')) pads.querySelector('button')?.focus(); });
}

// show puts the first sounds of a list on keys.
export function show(list, gen) {
  if (gen !== generation) loaded.clear();
  generation = gen;
  entries = list.filter((e) => e.format).slice(0, names.length);
  const at = [...pads.children].indexOf(document.activeElement);
  keepFocus(() => pads.replaceChildren(...entries.map(pad)), () => at >= 0 && (pads.children[at] ?? pads.lastElementChild));
}

function pad(e, i) {
  const b = el('button');
  b.type = 'button';
  b.append(el('kbd', '', names[i]), el('span', '', e.name));
  b.setAttribute('aria-pressed', String(Boolean(playing.get(e.index)?.size)));
  b.setAttribute('aria-keyshortcuts', names[i]);
  b.dataset.index = e.index;
  b.addEventListener('click', (ev) => trigger(e, ev.shiftKey));
  return b;
}

function pressed(e) {
  if (e.ctrlKey || e.altKey || e.metaKey || e.repeat) return;
  if (e.key === 'Escape') {
    speak('All keys stopped');
    return stopAll();
  }
  const i = names.indexOf(e.code.startsWith('Digit') ? e.code.slice(5) : e.key.toLowerCase());
  if (i < 0 || i >= entries.length) return;
  e.preventDefault();
  trigger(entries[i], e.shiftKey);
}

function stopAll() {
  for (const set of playing.values()) for (const s of set) s.stop();
  looping.clear();
}

async function trigger(entry, looped) {
  if (looping.has(entry.index)) {
    looping.get(entry.index).stop();
    looping.delete(entry.index);
    speak(`Stopped ${entry.name}`);
    return;
  }
  try {
    context ??= new AudioContext();
    context.resume();
    const buffer = await load(entry);
    const source = new AudioBufferSourceNode(context, { buffer, loop: looped });
    if (looped && entry.loop) [source.loopStart, source.loopEnd] = entry.loop.map((f) => f / entry.rate);
    source.connect(context.destination);
    source.start();
    if (looped) {
      looping.set(entry.index, source);
      speak(`Looping ${entry.name}`);
    } // once is heard, and done before it could be said
    started(entry, source);
  } catch (err) {
    failed(`${entry.name}: ${err.message}`);
  }
}

function started(entry, source) {
  const set = playing.get(entry.index) ?? new Set();
  playing.set(entry.index, set.add(source));
  mark(entry);
  source.addEventListener('ended', () => {
    set.delete(source);
    if (looping.get(entry.index) === source) looping.delete(entry.index);
    mark(entry);
  });
}

function mark(entry) {
  pads.querySelector(`[data-index="${entry.index}"]`)?.setAttribute('aria-pressed', String(playing.get(entry.index).size > 0));
}

function load(entry) {
  if (!loaded.has(entry.index)) {
    const promise = fetchSound(entry);
    loaded.set(entry.index, promise);
    promise.catch(() => loaded.delete(entry.index));
  }
  return loaded.get(entry.index);
}

async function fetchSound(entry) {
  if (playable(entry)) {
    try {
      return await context.decodeAudioData(await get(soundURL(entry, generation, false), 'arrayBuffer'));
    } catch { /* decoded by the server, then */ }
  }
  return context.decodeAudioData(await get(soundURL(entry, generation, true), 'arrayBuffer'));
}
