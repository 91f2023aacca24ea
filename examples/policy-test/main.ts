import { checkRefund } from './check-refund.ts';
import { rightRefund } from './right-refund.ts';
import { wrongRefund } from './wrong-refund.ts';

const wrong = await checkRefund(wrongRefund);
console.log(wrong.text);

const right = await checkRefund(rightRefund);
console.log(`\nWith the key: ${right.text}`);
