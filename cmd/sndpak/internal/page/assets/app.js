// The page: the list, the chosen sound, and what holds the rest together.
import { bytes, clock, count, el, get, login, playable, post, soundURL } from './api.js';
import * as keys from './keys.js';
import * as live from './live.js';
import { keepFocus, speak } from './speak.js';
import * as wave from './wave.js';

const $ = (id) => document.getElementById(id);
const most = 500; // rows that are shown at once
const titles = { wav: 'WAV', vorbis: 'OGG Vorbis', mp3: 'MP3', flac: 'FLAC' };

let pack = null;
let shown = []; // entries that the search leaves
let chosen = null; // the entry
let loop = null; // of the chosen entry, as it stands on the page

const say = (text, bad = false) => {
  $('status').textContent = text;
  $('status').classList.toggle('bad', bad);
};
const failed = (text) => say(text, true);

async function start() {
  try {
    await login();
    await load();
  } catch (e) {
    return failed(e.message);
  }
  wave.setup((l) => setLoop(l), (frame) => { if (chosen) $('audio').currentTime = frame / chosen.rate; });
  keys.setup(failed);
  live.setup(pack.output, failed);
  live.follow(pack.output, (generation) => { if (generation !== pack.generation) load().catch((e) => failed(e.message)); },
    () => failed('The server does not answer.'));
  if (shown.length > 0) choose(shown[0]);
  $('list').focus();
}

// load fetches the list, at the start and when the pack has changed.
async function load() {
  const was = pack;
  pack = await get('/api/pack');
  const name = pack.pack.split(/[\\/]/).pop();
  document.title = `${name} – sndpak`;
  $('pack').textContent = name;
  const seconds = pack.entries.reduce((sum, e) => sum + (e.frames ? e.frames / e.rate : 0), 0);
  $('about').textContent = `${count(pack.entries.length, 'entry', 'entries')}, ${bytes(pack.size)}, ${clock(seconds)} of sound, ${pack.layout} layout`;
  search();
  if (!was) return;
  say('The pack has changed.');
  const again = chosen && pack.entries.find((e) => e.name === chosen.name);
  if (again) await choose(again);
}

function search() {
  const words = $('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  shown = pack.entries.filter((e) => words.every((w) => e.name.toLowerCase().includes(w)));
  $('count').textContent = shown.length === pack.entries.length ? `${shown.length}` : `${shown.length} of ${pack.entries.length}`;
  $('list').replaceChildren(...shown.slice(0, most).map(row));
  $('more').hidden = shown.length > 0 && shown.length <= most;
  $('more').textContent = shown.length === 0 ? 'No sound has that name.' : `and ${shown.length - most} more: search for what you want`;
  mark();
  keys.show(shown, pack.generation);
}

// searched is search as somebody types, told once no more is typed.
function searched() {
  search();
  speak(shown.length === 0 ? 'No sound found' : `${shown.length} of ${count(pack.entries.length, 'sound')}`, 500);
}

function row(e, i) {
  const item = el('li');
  item.id = `entry-${e.index}`;
  item.setAttribute('role', 'option');
  item.setAttribute('aria-setsize', shown.length);
  item.setAttribute('aria-posinset', i + 1);
  item.append(el('span', 'n', e.name), el('span', 't dim', e.frames ? clock(e.frames / e.rate) : ''), el('span', 'f', describe(e)));
  item.addEventListener('click', () => choose(e));
  item.addEventListener('dblclick', () => play());
  return item;
}

function describe(e) {
  if (!e.format) return `${bytes(e.size)}, ${e.error || 'no sound'}`;
  const channels = { 1: 'mono', 2: 'stereo' }[e.channels] || `${e.channels} channels`;
  return `${titles[e.format] || e.format}, ${(e.encoding || '').replace(/^Vorbis /, '')}, ${e.rate / 1000} kHz ${channels}, ${bytes(e.size)}`;
}

function mark() {
  for (const item of $('list').children) item.setAttribute('aria-selected', String(chosen !== null && item.id === `entry-${chosen.index}`));
  const item = chosen && $(`entry-${chosen.index}`);
  if (item) {
    $('list').setAttribute('aria-activedescendant', item.id);
    item.scrollIntoView({ block: 'nearest' });
  } else {
    $('list').removeAttribute('aria-activedescendant');
  }
}

async function choose(e) {
  const before = chosen;
  chosen = e;
  mark();
  const sound = Boolean(e.format), audio = $('audio');
  $('name').textContent = e.name;
  $('facts').textContent = describe(e);
  $('play').disabled = !sound;
  for (const id of ['loop-set', 'loop-clear']) $(id).hidden = !sound;
  $('play-here').hidden = !sound || !pack.output;
  wave.show(null);
  wave.at(null);
  setLoop(e.loop ? [...e.loop] : null);
  if (!before || before.index !== e.index || !audio.src.endsWith(`g=${pack.generation}`)) {
    audio.pause();
    audio.removeAttribute('src');
    audio.load();
    if (sound) audio.src = soundURL(e, pack.generation, !playable(e));
  }
  $('spectrogram').hidden = true;
  if (!sound) return;
  $('canvas').setAttribute('aria-label', `Waveform of ${e.name}`);
  $('spectrogram').alt = `Spectrogram of ${e.name}, from 0 to ${e.rate / 2000} kHz`;
  try {
    const peaks = await get(`/e/${e.index}/peaks`);
    if (chosen !== e) return; // another one was chosen meanwhile
    $('canvas').setAttribute('aria-label', wave.text(e.name, peaks));
    wave.show(peaks);
    wave.showLoop(loop);
    $('spectrogram').src = `/e/${e.index}/spectrogram?g=${pack.generation}`;
  } catch (err) {
    if (chosen === e) failed(`${e.name}: ${err.message}`);
  }
}

// setLoop shows the loop, and whether it is another than the pack has.
function setLoop(l) {
  loop = l;
  wave.showLoop(l);
  $('loop-text').textContent = l && chosen ? `${clock(l[0] / chosen.rate)} to ${clock(l[1] / chosen.rate)} (frames ${l[0]} to ${l[1]})` : 'no loop points';
  $('loop-set').hidden = !chosen?.format || l !== null;
  $('loop-clear').hidden = !chosen?.format || l === null;
  const same = JSON.stringify(l) === JSON.stringify(chosen?.loop ?? null);
  $('loop-write').hidden = !pack.write || !chosen?.format;
  $('loop-write').disabled = same;
}

async function writeLoop() {
  const e = chosen, [start, end] = loop ?? [0, 0];
  try {
    await post(`/e/${e.index}/loop`, { generation: pack.generation, start, end });
    await keepFocus(load, $('loop-clear'), $('loop-set'));
    say(`The loop of ${e.name} is written.`);
  } catch (err) {
    failed(`${e.name}: ${err.message}`);
  }
}

function play() {
  const audio = $('audio');
  if (!chosen?.format) return;
  if (!audio.paused) return audio.pause();
  audio.play().catch((e) => { if (e.name !== 'AbortError' && !audio.error) failed(`${chosen.name}: ${e.message}`); });
}

// follow moves the place that is heard, and jumps back at the end of a loop.
function follow() {
  const audio = $('audio');
  if (chosen?.rate) {
    const end = loop ? loop[1] / chosen.rate : Infinity;
    if ($('looped').checked && loop && audio.currentTime >= end - 0.01 && !audio.paused) audio.currentTime = loop[0] / chosen.rate;
    wave.at(audio.currentTime * chosen.rate);
  }
  if (!audio.paused) requestAnimationFrame(follow);
}

function listen() {
  const audio = $('audio');
  audio.addEventListener('play', () => { $('play').textContent = 'Pause'; speak(`Playing ${chosen.name}`); follow(); });
  audio.addEventListener('pause', () => { $('play').textContent = 'Play'; speak(audio.ended ? 'The end' : 'Paused'); });
  audio.addEventListener('seeked', follow);
  audio.addEventListener('ended', () => {
    if (!$('looped').checked) return;
    audio.currentTime = loop ? loop[0] / chosen.rate : 0;
    play();
  });
  audio.addEventListener('error', () => {
    if (!chosen || !audio.src) return;
    if (audio.src.includes('/wav')) return failed(`${chosen.name}: this browser does not play it`);
    audio.src = soundURL(chosen, pack.generation, true); // decoded by the server, then
  });
  $('spectrogram').addEventListener('load', () => { $('spectrogram').hidden = false; });
  $('search').addEventListener('input', searched);
  $('play').addEventListener('click', play);
  $('loop-set').addEventListener('click', () => keepFocus(() => setLoop([0, chosen.frames]), $('loop-start'), $('loop-clear')));
  $('loop-clear').addEventListener('click', () => keepFocus(() => setLoop(null), $('loop-set')));
  $('loop-write').addEventListener('click', writeLoop);
  $('play-here').addEventListener('click', () => post(`/e/${chosen.index}/play`, { loop: $('looped').checked })
    .then(() => speak(`Playing ${chosen.name} on the server`), (e) => failed(e.message)));
  $('lint-run').addEventListener('click', () => live.lint((i) => choose(pack.entries[i]), failed));
  $('list').addEventListener('keydown', listKey);
  $('search').addEventListener('keydown', (e) => {
    if (e.key === 'ArrowDown' || e.key === 'Enter') {
      e.preventDefault();
      if (shown.length > 0) choose(shown[0]);
      $('list').focus();
    }
  });
  document.addEventListener('keydown', (e) => {
    if (e.key === '/' && !e.ctrlKey && !e.altKey && !e.metaKey && document.activeElement?.tagName !== 'INPUT') {
      e.preventDefault();
      $('search').focus();
    }
  });
}

// listKey moves through the list; Enter and Space play.
function listKey(e) {
  const rows = shown.slice(0, most), i = rows.indexOf(chosen);
  const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: rows.length - 1, PageDown: i + 10, PageUp: i - 10 }[e.key];
  if (to !== undefined && rows.length > 0) {
    e.preventDefault();
    choose(rows[Math.min(Math.max(to, 0), rows.length - 1)]);
  } else if (e.key === 'Enter' || e.key === ' ') {
    e.preventDefault();
    play();
  }
}

listen();
start();
