import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Asker, Question, Statistics } from '../../core/ports';
import type { MalformedBody } from './json/malformed';
import { parseRequest } from './json/parse-request';
import { printDecision } from './json/print-decision';
import { readBody } from './read-body';
import type { Refusal } from './refusal';
import { refuse, respondJson } from './respond';
import { toRefusal } from './status';

interface DecisionDeps {
  readonly ask: (question: Question) => void;
  readonly statistics: Statistics;
}

/** Bodies that were no request; of our own, the reference counts nothing here. */
const REFUSED = 'ratelimit_http.json.refused';

/** `POST /json`: one asker for all calls, the ticket is the number of the call. */
export function createJsonEndpoint({ ask, statistics }: DecisionDeps) {
  const calls = new Map<number, ServerResponse>();
  let lastTicket = 0;

  const asker: Asker = {
    answer(ticket, answer) {
      const response = calls.get(ticket);
      calls.delete(ticket);
      if (response === undefined) return;
      if (answer.kind === 'failure') {
        refuse(response, toRefusal(answer));
        return;
      }
      respondJson(response, answer.overallCode === 'OVER_LIMIT' ? 429 : 200, printDecision(answer));
    },
  };

  const decline = (response: ServerResponse, reason: Refusal): void => {
    statistics.count(REFUSED, 1);
    refuse(response, reason);
  };

  return (request: IncomingMessage, response: ServerResponse): void => {
    readBody(request, (body) => {
      if (typeof body !== 'string') {
        decline(response, body);
        return;
      }
      const parsed = parseRequest(body);
      if ('kind' in parsed) {
        decline(response, malformed(parsed));
        return;
      }
      const ticket = ++lastTicket;
      calls.set(ticket, response);
      response.once('close', () => calls.delete(ticket));
      ask({ request: parsed, asker, ticket });
    });
  };
}

function malformed({ message, where, line, column }: MalformedBody): Refusal {
  return { status: 400, body: { error: message, code: 'malformed', where, line, column } };
}
