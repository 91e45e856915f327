import type { LogFields, Logger } from '../../src/platform/logger';

/** A logger that keeps its lines. */
export function createRecordingLogger() {
  const lines: { level: keyof Logger; message: string; fields: LogFields }[] = [];
  const at =
    (level: keyof Logger) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ level, message, fields });
    };
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
  return { logger, lines };
}
