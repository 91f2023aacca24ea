import { runEndingsAfterFile } from './at-test-end.ts';
import { setPropertyDefaults } from './property.ts';

setPropertyDefaults();
runEndingsAfterFile();
