const WORDS = (
  'the order of a customer from the north came late and was sent again by train since no van was free on that day while the clerk ' +
  'noted its number for the invoice and asked whether a refund of the fee would be fair or a voucher for the next journey is better'
).split(' ');

/** Words of a conversation, the same for the same place in it: about 60, with a number that no other place has. */
export function talk(place: number): string {
  const words = Array.from({ length: 60 }, (_, at) => WORDS[(place * 7 + at * 11 + (at % 5) * place) % WORDS.length]);
  return `No. ${place}: ${words.join(' ')}.`;
}
