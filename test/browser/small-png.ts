import { crc32, deflateSync } from 'node:zlib';
import type { Page } from 'playwright-core';

/** Colours that a palette holds, and how many of them are the commonest as they are. */
const MAX_COLOURS = 256;
const EXACT_COLOURS = 128;

/** The pixels of a PNG, as the browser of `page` decodes it. */
const DECODE = `async (data) => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + data;
  await image.decode();
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext('2d');
  context.drawImage(image, 0, 0);
  const bytes = context.getImageData(0, 0, width, height).data;
  let text = '';
  for (let place = 0; place < bytes.length; place += 8192) text += String.fromCharCode(...bytes.subarray(place, place + 8192));
  return { width, height, pixels: btoa(text) };
}`;

/**
 * The same picture with a palette of at most 256 colours, about a third as large. What pages are made of keeps its colours: the commonest stay
 * as they are, and of others that are near each other one stands for all, which changes the edges of letters alone.
 */
export async function smallPng(page: Page, png: Buffer): Promise<Buffer> {
  const decoded: { width: number; height: number; pixels: string } = await page.evaluate(
    `(${DECODE})(${JSON.stringify(png.toString('base64'))})`,
  );
  const { width, height } = decoded;
  const bytes = Buffer.from(decoded.pixels, 'base64');
  const pixels = Uint32Array.from({ length: width * height }, (_, place) => bytes.readUIntBE(place * 4, 3));
  const palette = paletteOf(pixels);
  const indexes = new Map<number, number>();
  const rows = Buffer.alloc((width + 1) * height); // each row begins with its filter, which is none
  pixels.forEach((colour, place) => {
    const index = indexes.get(colour) ?? nearest(palette, colour);
    indexes.set(colour, index);
    rows[place + Math.floor(place / width) + 1] = index;
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8); // 8 bits, a palette, deflate, no interlace
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The commonest colours, and of the others the commonest one of each neighbourhood. */
function paletteOf(pixels: Uint32Array): number[] {
  const counts = new Map<number, number>();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const colours = [...counts].sort(([, one], [, other]) => other - one).map(([colour]) => colour);
  const near = Map.groupBy(colours.slice(EXACT_COLOURS), (colour) => colour & 0xf0f0f0);
  return [...colours.slice(0, EXACT_COLOURS), ...[...near.values()].map(([first]) => first!)].slice(0, MAX_COLOURS);
}

function nearest(palette: readonly number[], colour: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  palette.forEach((candidate, index) => {
    const distance = [16, 8, 0].reduce(
      (sum, bits) => sum + (((candidate >> bits) & 255) - ((colour >> bits) & 255)) ** 2,
      0,
    );
    if (distance < least) [best, least] = [index, distance];
  });
  return best;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
