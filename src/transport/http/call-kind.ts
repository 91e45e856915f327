import type { CallKind } from '../../core/ports';
import { toHttpStatus } from './status';

/** `POST /json` in the words of OpenTelemetry's conventions for HTTP. */
export const JSON_CALL: CallKind = {
  name: 'POST /json',
  attributes: {
    'http.request.method': 'POST',
    'http.route': '/json',
    'url.path': '/json',
    'url.scheme': 'http',
  },
  statusAttribute: 'http.response.status_code',
  statusOf: toHttpStatus,
};
