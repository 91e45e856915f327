/** After `npm test`. */
module.exports = () => globalThis.stopNearStores?.();
