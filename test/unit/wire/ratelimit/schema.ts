import { parse, type Type } from 'protobufjs';

/** The messages of the hot call, as protobufjs understands them: the judge of our own codec. */
const { root } = parse(`
  syntax = "proto3";
  message UInt64Value { uint64 value = 1; }
  message Duration { int64 seconds = 1; int32 nanos = 2; }
  message Struct { map<string, Value> fields = 1; }
  message ListValue { repeated Value values = 1; }
  message Value {
    oneof kind {
      int32 null_value = 1; double number_value = 2; string string_value = 3;
      bool bool_value = 4; Struct struct_value = 5; ListValue list_value = 6;
    }
  }
  message Entry { string key = 1; string value = 2; }
  message Override { uint32 requests_per_unit = 1; int32 unit = 2; }
  message Descriptor {
    repeated Entry entries = 1; Override limit = 2; UInt64Value hits_addend = 3; bool is_negative_hits = 4;
  }
  message Request { string domain = 1; repeated Descriptor descriptors = 2; uint32 hits_addend = 3; }
  message Header { string key = 1; string value = 2; }
  message Limit { uint32 requests_per_unit = 1; int32 unit = 2; string name = 3; }
  message Status { int32 code = 1; Limit current_limit = 2; uint32 limit_remaining = 3; Duration duration_until_reset = 4; }
  message Response {
    int32 overall_code = 1; repeated Status statuses = 2; repeated Header response_headers_to_add = 3;
    Struct dynamic_metadata = 6;
  }
`);

export const requestType: Type = root.lookupType('Request');
export const responseType: Type = root.lookupType('Response');
