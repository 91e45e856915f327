import fc from 'fast-check';
import { cleanName, MAX_METRIC_LENGTH } from '../../../src/stats/names';

describe('cleanName', () => {
  it.each([
    ['keeps what needs no change', 'shop.user_ann.path_/cart', 'shop.user_ann.path_/cart'],
    ['keeps spaces and letters of any script', 'odd values.ключ_ünï 日', 'odd values.ключ_ünï 日'],
    ['keeps stars, signs of rates and of tags', 'd.k_*@#%,;=', 'd.k_*@#%,;='],
    ['replaces colons and bars', 'odd values.k:1_x:y|z', 'odd values.k_1_x_y_z'],
    ['replaces the dots of an IPv4 address', 'm.user_10.0.0.1', 'm.user_10_0_0_1'],
    ['finds an address in front of a mask', 'd.net_10.1.2.0/24.k', 'd.net_10_1_2_0/24.k'],
    ['finds several addresses', 'd.a_1.2.3.4.b_5.6.7.8', 'd.a_1_2_3_4.b_5_6_7_8'],
    ['finds an address with a port', 'd.a_127.0.0.1:80', 'd.a_127_0_0_1_80'],
    ['takes the first four numbers of more', 'd.v_1.2.3.4.5', 'd.v_1_2_3_4.5'],
    ['keeps the dots of three numbers', 'd.v_1.2.3', 'd.v_1.2.3'],
    ['replaces the colons of an IPv6 address', 'd.a_fe80::1', 'd.a_fe80__1'],
    ['replaces each control character', 'd.a_\n\r\0\t\x1b\x7f\x85', 'd.a________'],
    ['replaces line separators', 'd.a_\u2028\u2029', 'd.a___'],
    ['takes the sign of a tag away', 'd.a_x.__host=evil', 'd.a_x.__host_evil'],
    ['leaves two underscores alone', 'd.__a.b', 'd.__a.b'],
  ])('%s', (_, metric, name) => {
    expect(cleanName(metric)).toBe(name);
  });

  it('cuts a metric that is longer than any server takes', () => {
    expect(cleanName('é'.repeat(70_000))).toBe('é'.repeat(MAX_METRIC_LENGTH));
  });

  it('gives no name that could start another line, value or tag', () => {
    const nasty = fc.constantFrom(':', '|', '\n', '\r', '\0', '\u2028', '.__', '=', '1.1.1.1', 'a');
    const metrics = fc.array(fc.oneof(nasty, fc.string({ unit: 'binary' }))).map((p) => p.join(''));
    fc.assert(
      fc.property(metrics, (metric) => {
        const name = cleanName(metric);
        expect(name).not.toMatch(/[:|\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        expect(name).not.toMatch(/\.__.*=/);
      }),
    );
  });
});
