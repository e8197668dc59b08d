// What plays on the server, and what lint finds.
import { clock, count, el, get, post } from './api.js';
import { keepFocus, speak } from './speak.js';

const $ = (id) => document.getElementById(id);

// follow tells of each piece of news until the server is gone.
export function follow(output, onGeneration, onLost) {
  const news = new EventSource('/api/live');
  news.addEventListener('message', (e) => {
    const n = JSON.parse(e.data);
    onGeneration(n.generation);
    if (output) show(n);
  });
  news.addEventListener('error', () => onLost());
}

export function setup(output, failed) {
  $('live').hidden = !output;
  $('output').textContent = output;
  $('stop-all').addEventListener('click', () => post('/api/stop', { id: 0 }).then(() => speak('All stopped on the server'), (e) => failed(e.message)));
}

const shown = new Map(); // id -> elements

function show(n) {
  const m = n.meter;
  ['l', 'r'].forEach((side, i) => {
    const v = m.peak[i];
    $(`meter-${side}`).value = v ?? -60;
    $(`meter-${side}`).setAttribute('aria-valuetext', v === null ? 'silence' : `${v} dBFS`);
  });
  $('loud').textContent = m.momentary === null ? 'silence' : `momentary ${m.momentary.toFixed(1)} LUFS, short-term ${m.shortTerm === null ? 'silence' : m.shortTerm.toFixed(1)}`;
  for (const [id, row] of shown) {
    if (!n.voices.some((v) => v.id === id)) {
      keepFocus(() => row.item.remove(), () => $('voices').querySelector('button'), $('stop-all'));
      shown.delete(id);
    }
  }
  for (const v of n.voices) {
    const row = shown.get(v.id) ?? add(v);
    row.bar.max = Math.max(v.frames, 1);
    row.bar.value = v.position;
    row.time.textContent = `${clock(v.position / v.rate)} / ${clock(v.frames / v.rate)}`;
    row.bar.setAttribute('aria-valuetext', `${clock(v.position / v.rate)} of ${clock(v.frames / v.rate)}`);
  }
}

function add(v) {
  const item = el('li'), bar = el('progress'), time = el('span', 'dim'), stop = el('button', '', 'Stop');
  bar.setAttribute('aria-label', `Position of ${v.name}`);
  stop.type = 'button';
  stop.setAttribute('aria-label', `Stop ${v.name}`);
  stop.addEventListener('click', () => post('/api/stop', { id: v.id }).then(() => speak(`Stopped ${v.name} on the server`), () => {}));
  item.append(el('span', 'n', v.name), bar, time, stop);
  $('voices').append(item);
  const row = { item, bar, time };
  shown.set(v.id, row);
  return row;
}

// lint shows what is wrong with the pack; a name leads to its sound.
export const lint = (choose, failed) => keepFocus(async () => {
  $('lint-run').disabled = true;
  $('lint-sum').textContent = 'Checking: every sound is decoded…';
  try {
    const r = await get('/api/lint');
    const loud = r.loudness === null ? '' : `, median loudness ${r.loudness.toFixed(1)} LUFS`;
    $('lint-sum').textContent = `${count(r.errors, 'error')}, ${count(r.warnings, 'warning')}, ${count(r.notes, 'note')}${loud}`;
    $('findings').replaceChildren(...r.findings.map((f) => {
      const item = el('li');
      item.append(el('span', `level ${f.level}`, f.level));
      if (f.entry) {
        const b = el('button', '', f.entry);
        b.type = 'button';
        b.addEventListener('click', () => choose(f.index));
        item.append(b, document.createTextNode(': '));
      }
      item.append(document.createTextNode(f.text), el('span', 'dim', `  ${f.rule}`));
      return item;
    }));
  } catch (e) {
    $('lint-sum').textContent = '';
    failed(e.message);
  }
  $('lint-run').disabled = false;
}, $('lint-run'));
