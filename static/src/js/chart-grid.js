// Where a chart's axes lie. The label of the last tick is centred on it, and `containLabel` makes no room for the half
// that reaches beyond the axis: of "07:27:40" that is 24 pixels.
const HALF_A_TIME = 28;

/** @param {boolean} legend whether there is one above */
export const gridOf = legend => ({ left: 6, right: HALF_A_TIME, top: legend ? 30 : 12, bottom: 4, containLabel: true });
