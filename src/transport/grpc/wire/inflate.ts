import { gunzipSync } from 'node:zlib';
import type { Inflate } from '../../../wire/grpc/inflate';

/** gzip by zlib, which stops at the bound. Messages are small: a trip to the thread pool would cost more. */
export const inflate: Inflate = (packed, maxBytes) => {
  try {
    return gunzipSync(packed, { maxOutputLength: maxBytes });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : undefined;
  }
};
