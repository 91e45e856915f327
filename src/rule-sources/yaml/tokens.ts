import { Lexer, Parser, type CST } from 'yaml';
import { MAX_DEPTH } from '../../core/rules/parse/located';

/**
 * The syntax tree of a YAML text. Gives up, with the offset reached, where lists and maps stand too
 * deep in one another: composing such a tree would overflow the stack, and near its end a regular
 * expression that cannot be compiled ends the whole process.
 */
export function parseTokens(
  text: string,
): { readonly tokens: CST.Token[] } | { readonly tooDeepAt: number } {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > MAX_DEPTH) return { tooDeepAt: parser.offset };
  }
  for (const token of parser.end()) tokens.push(token);
  return { tokens };
}
