// Requests to the server. Names and texts that come back are data: they reach the page by textContent
// alone.

export class Refused extends Error {}

export async function get(path, as = 'json') {
  const r = await fetch(path);
  if (!r.ok) throw new Refused((await r.text()).trim() || r.statusText);
  return r[as]();
}

export async function post(path, body) {
  const r = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  if (!r.ok) throw new Refused((await r.text()).trim() || r.statusText);
  return r.status === 204 ? null : r.json();
}

// login exchanges the token of the address for a cookie, and takes it out of the address and the
// history.
export async function login() {
  const token = new URLSearchParams(location.hash.slice(1)).get('t');
  if (!token) return;
  history.replaceState(null, '', location.pathname);
  await post('/login', { token });
}

// playable tells whether this browser says that it plays an entry as it is.
export function playable(entry) {
  const audio = document.createElement('audio');
  switch (entry.format) {
    case 'vorbis': return audio.canPlayType('audio/ogg; codecs="vorbis"') !== '';
    case 'mp3': return audio.canPlayType('audio/mpeg') !== '';
    case 'wav': return /^(8|16|24)-bit PCM/.test(entry.encoding || '');
  }
  return false; // FLAC goes out as bytes without a name, which no browser plays
}

// soundURL is where to play an entry from. The generation keeps a player from mixing two versions.
export function soundURL(entry, generation, decoded) {
  return `/e/${entry.index}${decoded ? '/wav' : ''}?g=${generation}`;
}

export function clock(seconds) {
  const m = Math.floor(seconds / 60);
  return `${m}:${(seconds - 60 * m).toFixed(2).padStart(5, '0')}`;
}

export function bytes(n) {
  if (n < 1024) return `${n} bytes`;
  if (n < 1 << 20) return `${(n / 1024).toFixed(1)} KiB`;
  return `${(n / (1 << 20)).toFixed(1)} MiB`;
}

export function count(n, one, more = `${one}s`) {
  return `${n} ${n === 1 ? one : more}`;
}

export function el(name, cls, text) {
  const e = document.createElement(name);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
}
