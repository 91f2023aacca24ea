/** Thrown where a run of the kit does not come to rest: something is done again and again, or somebody never lets go. */
export class NeverRests extends Error {}
