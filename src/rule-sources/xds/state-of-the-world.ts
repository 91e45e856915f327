import { RULES_TYPE_URL, type DiscoveryRequest } from './messages';
import {
  handleEach,
  toAckDecision,
  type ResponseOutcome,
  type Protocol,
  type ProtocolDeps,
  isOfRules,
  refusedContent,
  refuseType,
  toErrorDetail,
} from './protocol';
import { readResponse, type Response } from './read-response';

/** The protocol in which each response contains everything (`StreamAggregatedResources`). */
export function createStateOfTheWorld<R>({
  node,
  load,
  nackBackoff,
}: ProtocolDeps<R>): Protocol<Response, R> {
  let acceptedVersion = '';
  const request = (more: Partial<DiscoveryRequest>): DiscoveryRequest => ({
    node,
    typeUrl: RULES_TYPE_URL,
    versionInfo: acceptedVersion,
    ...more,
  });
  const handleOne = async (
    response: Response,
    signal: AbortSignal,
  ): Promise<ResponseOutcome<R>> => {
    const { nonce: responseNonce, version } = response;
    const loaded = isOfRules(response) ? await load(response.bytes, signal) : refuseType(response);
    if (loaded.ok) {
      acceptedVersion = version;
      nackBackoff.accept();
      const answer = request({ responseNonce });
      return { load: { ...loaded, version }, answer, nackDelayMs: undefined, isRepeat: false };
    }
    const content = contentOf(response);
    const isRepeat = nackBackoff.isRepeat(() => content);
    const errorDetail = toErrorDetail(loaded);
    const answer = request({ responseNonce, errorDetail });
    return {
      load: { ...loaded, version },
      answer,
      nackDelayMs: nackBackoff.refuse(content),
      isRepeat,
    };
  };
  return {
    method: 'StreamAggregatedResources',
    read: readResponse,
    initialRequest: () => request({}),
    async handle(responses, signal) {
      return toAckDecision(await handleEach(responses, (one) => handleOne(one, signal)));
    },
    supersedes: (next, waiting) => next.typeUrl === waiting.typeUrl,
    isChanged: (response) => !nackBackoff.isRepeat(() => contentOf(response)),
  };
}

function contentOf(response: Response): string {
  return refusedContent(response, () => response.version);
}
