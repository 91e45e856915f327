const { createTransformer } = require('@swc/jest');

/**
 * swc writes exports as getters, which it maps to the lines of what they export: a function that no covering test imports, but that its
 * neighbours call, would count as not covered.
 */
const EXPORTS = /^(?:_export\(exports,|Object\.defineProperty\(exports, "(?!__esModule))/gm;

module.exports = {
  createTransformer(options) {
    const transformer = createTransformer(options);
    return {
      ...transformer,
      process(...words) {
        const { code, map } = transformer.process(...words);
        return { code: code.replace(EXPORTS, '/* istanbul ignore next */ $&'), map };
      },
    };
  },
};
