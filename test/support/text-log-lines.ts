/** A line of Envoy's default text log, and one of Istio's. */
export const ENVOY_LINE =
  '[2026-11-22T14:00:00.310Z] "POST /login?next=1 HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "curl/8" "cc21d9b0" "shop.example" "10.0.2.1:80"';
export const ISTIO_LINE =
  '[2026-11-22T14:00:01.101Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 4 3 "-" "curl/8" "84961386" "shop.example" "127.0.0.1:80" inbound|80|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 outbound_.80_._.shop default';

const LONG = 500_000;

/** Lines of half a megabyte that are in neither format, made of what their patterns look for. */
export function longTextLines(): readonly { readonly envoy: string; readonly istio: string }[] {
  return ['" "', '"', ' ', '- ', '" "x" ', '" 0 0 0 0 "" "" "" "" "" - - - - -'].map((part) => {
    const more = part.repeat(Math.ceil(LONG / part.length));
    return {
      envoy: ENVOY_LINE.slice(0, 70) + more,
      istio: `${ISTIO_LINE.slice(0, 80)}"${more}\n"`,
    };
  });
}
