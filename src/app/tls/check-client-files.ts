import { readFileSync } from 'node:fs';
import { readCredentialsNow } from '../../platform/credentials-source';
import { describeCode, errorCode, toReason } from '../../platform/errors';
import type { ClientFile } from '../../settings/client-files';

/**
 * Throws, naming every setting, when a file that secures a connection to a store or to the management server cannot be used:
 * waiting would not help. Files are read again for each connection, so a later failure is an outage.
 */
export function checkClientFiles(files: readonly ClientFile[]): void {
  const problems = files.flatMap(({ setting, file, holds }) => {
    try {
      readFileSync(file);
    } catch (error) {
      return [`${setting}: cannot read the file: ${describeCode(errorCode(error))}`];
    }
    try {
      if (holds === 'credentials') readCredentialsNow({ file });
      return [];
    } catch (error) {
      return [`${setting}: ${toReason(error)}`];
    }
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
