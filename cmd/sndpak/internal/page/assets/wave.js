// The waveform with its loop handles and the place that is heard.
import { clock } from './api.js';

const $ = (id) => document.getElementById(id);
const canvas = $('canvas'), region = $('region'), head = $('playhead');
const handles = [$('loop-start'), $('loop-end')];

let peaks = null;
let loop = null; // [start, end) in frames
let changed = () => {};
let seek = () => {};

export function setup(onLoop, onSeek) {
  changed = onLoop;
  seek = onSeek;
  new ResizeObserver(draw).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  handles.forEach((h, i) => {
    h.addEventListener('pointerdown', (e) => drag(e, h, i));
    h.addEventListener('keydown', (e) => key(e, i));
  });
  canvas.addEventListener('pointerdown', (e) => { if (peaks) seek(frameAt(e.clientX)); });
}

// text tells in words what the picture shows.
export function text(name, data) {
  const largest = Math.max(0, ...data.channels.flatMap((c) => [...c.max, ...c.min.map((v) => -v)]));
  const clipped = [...new Set(data.channels.flatMap((c) => c.clip))].sort((a, b) => a - b);
  const at = (column) => clock((column * data.frames) / data.channels[0].max.length / data.rate);
  return `Waveform of ${name}: ${clock(data.frames / data.rate)}, ${data.channels.length === 1 ? '1 channel' : `${data.channels.length} channels`}, `
    + `largest value ${largest} % of full scale, ${clipped.length === 0 ? 'nowhere clipped' : `clipped first at ${at(clipped[0])}`}`;
}

export function show(data) {
  peaks = data;
  if (!data) showLoop(null);
  draw();
}

export function showLoop(l) {
  loop = l;
  place();
}

// at shows the place that is heard, in frames; null hides it.
export function at(frame) {
  head.hidden = frame === null || !peaks;
  if (!head.hidden) head.style.left = `${(100 * frame) / Math.max(peaks.frames, 1)}%`;
}

function frameAt(x) {
  const box = canvas.getBoundingClientRect();
  return Math.round(Math.min(Math.max((x - box.left) / box.width, 0), 1) * peaks.frames);
}

function place() {
  const shown = loop && peaks && peaks.frames > 0;
  region.hidden = !shown;
  handles.forEach((h, i) => {
    h.hidden = !shown;
    if (!shown) return;
    h.style.left = `${(100 * loop[i]) / peaks.frames}%`;
    h.setAttribute('aria-valuemin', i === 0 ? 0 : loop[0] + 1);
    h.setAttribute('aria-valuemax', i === 0 ? loop[1] - 1 : peaks.frames);
    h.setAttribute('aria-valuenow', loop[i]);
    h.setAttribute('aria-valuetext', `${clock(loop[i] / peaks.rate)}, frame ${loop[i]}`);
  });
  if (!shown) return;
  region.style.left = `${(100 * loop[0]) / peaks.frames}%`;
  region.style.width = `${(100 * (loop[1] - loop[0])) / peaks.frames}%`;
}

function move(i, frame) {
  const [start, end] = loop;
  loop = i === 0 ? [Math.min(Math.max(frame, 0), end - 1), end] : [start, Math.max(Math.min(frame, peaks.frames), start + 1)];
  place();
  changed(loop);
}

function drag(e, h, i) {
  if (!loop) return;
  e.preventDefault();
  h.focus();
  h.setPointerCapture(e.pointerId);
  const moved = (m) => move(i, frameAt(m.clientX));
  h.addEventListener('pointermove', moved);
  h.addEventListener('pointerup', () => h.removeEventListener('pointermove', moved), { once: true });
}

// key moves a handle: arrows by a hundredth of the width, with Shift by one frame, pages by a tenth.
function key(e, i) {
  if (!loop) return;
  const step = e.shiftKey ? 1 : Math.max(Math.round(peaks.frames / 100), 1);
  const to = {
    ArrowLeft: loop[i] - step, ArrowDown: loop[i] - step, ArrowRight: loop[i] + step, ArrowUp: loop[i] + step,
    PageDown: loop[i] - 10 * step, PageUp: loop[i] + 10 * step, Home: 0, End: peaks.frames,
  }[e.key];
  if (to === undefined) return;
  e.preventDefault();
  move(i, to);
}

function draw() {
  const box = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
  canvas.width = Math.max(Math.round(box.width * ratio), 1);
  canvas.height = Math.max(Math.round(box.height * ratio), 1);
  if (!peaks) return;
  const g = canvas.getContext('2d'), style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(name).trim();
  const n = peaks.channels.length, each = canvas.height / n;
  peaks.channels.forEach((c, ch) => {
    const mid = (ch + 0.5) * each, half = each / 2 - 2 * ratio, wide = canvas.width / c.min.length;
    const bars = (from, to, fill) => {
      g.fillStyle = fill;
      for (let i = 0; i < from.length; i++) {
        const top = mid - (half * to[i]) / 100, high = Math.max((half * (to[i] - from[i])) / 100, ratio);
        g.fillRect(Math.floor(i * wide), top, Math.ceil(wide), high);
      }
    };
    bars(c.min, c.max, colour('--peak'));
    bars(c.rms.map((v, i) => Math.max(-v, c.min[i])), c.rms.map((v, i) => Math.min(v, c.max[i])), colour('--rms'));
    g.fillStyle = colour('--clip');
    for (const i of c.clip) g.fillRect(Math.floor(i * wide), mid - half, Math.ceil(wide), 2 * half);
  });
  place();
}
