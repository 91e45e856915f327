// Written by proto/generate-descriptors.cjs; do not edit.
/** The files of the protocol as google.protobuf.FileDescriptorProto, those that others import first. */
export const DESCRIPTOR_FILES: readonly {
  readonly name: string;
  readonly imports: readonly string[];
  readonly symbols: readonly string[];
  readonly base64: string;
}[] = [
  {
    name: 'envoy/config/core/v3/base.proto',
    imports: [],
    symbols: ['envoy.config.core.v3.HeaderValue'],
    base64:
      'Ch9lbnZveS9jb25maWcvY29yZS92My9iYXNlLnByb3RvEhRlbnZveS5jb25maWcuY29yZS52MyJSCgtIZWFkZXJWYWx1ZRIQCgNrZXkYASABKAlSA2tleRIUCgV2YWx1ZRgCIAEoCVIFdmFsdWUSGwoJcmF3X3ZhbHVlGAMgASgMUghyYXdWYWx1ZWIGcHJvdG8z',
  },
  {
    name: 'envoy/type/v3/ratelimit_unit.proto',
    imports: [],
    symbols: ['envoy.type.v3.RateLimitUnit'],
    base64:
      'CiJlbnZveS90eXBlL3YzL3JhdGVsaW1pdF91bml0LnByb3RvEg1lbnZveS50eXBlLnYzKlwKDVJhdGVMaW1pdFVuaXQSCwoHVU5LTk9XThAAEgoKBlNFQ09ORBABEgoKBk1JTlVURRACEggKBEhPVVIQAxIHCgNEQVkQBBIJCgVNT05USBAFEggKBFlFQVIQBmIGcHJvdG8z',
  },
  {
    name: 'google/protobuf/wrappers.proto',
    imports: [],
    symbols: [
      'google.protobuf.DoubleValue',
      'google.protobuf.FloatValue',
      'google.protobuf.Int64Value',
      'google.protobuf.UInt64Value',
      'google.protobuf.Int32Value',
      'google.protobuf.UInt32Value',
      'google.protobuf.BoolValue',
      'google.protobuf.StringValue',
      'google.protobuf.BytesValue',
    ],
    base64:
      'Ch5nb29nbGUvcHJvdG9idWYvd3JhcHBlcnMucHJvdG8SD2dvb2dsZS5wcm90b2J1ZiIjCgtEb3VibGVWYWx1ZRIUCgV2YWx1ZRgBIAEoAVIFdmFsdWUiIgoKRmxvYXRWYWx1ZRIUCgV2YWx1ZRgBIAEoAlIFdmFsdWUiIgoKSW50NjRWYWx1ZRIUCgV2YWx1ZRgBIAEoA1IFdmFsdWUiIwoLVUludDY0VmFsdWUSFAoFdmFsdWUYASABKARSBXZhbHVlIiIKCkludDMyVmFsdWUSFAoFdmFsdWUYASABKAVSBXZhbHVlIiMKC1VJbnQzMlZhbHVlEhQKBXZhbHVlGAEgASgNUgV2YWx1ZSIhCglCb29sVmFsdWUSFAoFdmFsdWUYASABKAhSBXZhbHVlIiMKC1N0cmluZ1ZhbHVlEhQKBXZhbHVlGAEgASgJUgV2YWx1ZSIiCgpCeXRlc1ZhbHVlEhQKBXZhbHVlGAEgASgMUgV2YWx1ZWIGcHJvdG8z',
  },
  {
    name: 'envoy/extensions/common/ratelimit/v3/ratelimit.proto',
    imports: ['envoy/type/v3/ratelimit_unit.proto', 'google/protobuf/wrappers.proto'],
    symbols: [
      'envoy.extensions.common.ratelimit.v3.RateLimitDescriptor',
      'envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry',
      'envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride',
    ],
    base64:
      'CjRlbnZveS9leHRlbnNpb25zL2NvbW1vbi9yYXRlbGltaXQvdjMvcmF0ZWxpbWl0LnByb3RvEiRlbnZveS5leHRlbnNpb25zLmNvbW1vbi5yYXRlbGltaXQudjMaImVudm95L3R5cGUvdjMvcmF0ZWxpbWl0X3VuaXQucHJvdG8aHmdvb2dsZS9wcm90b2J1Zi93cmFwcGVycy5wcm90byLgAwoTUmF0ZUxpbWl0RGVzY3JpcHRvchJZCgdlbnRyaWVzGAEgAygLMj8uZW52b3kuZXh0ZW5zaW9ucy5jb21tb24ucmF0ZWxpbWl0LnYzLlJhdGVMaW1pdERlc2NyaXB0b3IuRW50cnlSB2VudHJpZXMSYQoFbGltaXQYAiABKAsySy5lbnZveS5leHRlbnNpb25zLmNvbW1vbi5yYXRlbGltaXQudjMuUmF0ZUxpbWl0RGVzY3JpcHRvci5SYXRlTGltaXRPdmVycmlkZVIFbGltaXQSPQoLaGl0c19hZGRlbmQYAyABKAsyHC5nb29nbGUucHJvdG9idWYuVUludDY0VmFsdWVSCmhpdHNBZGRlbmQSKAoQaXNfbmVnYXRpdmVfaGl0cxgEIAEoCFIOaXNOZWdhdGl2ZUhpdHMaLwoFRW50cnkSEAoDa2V5GAEgASgJUgNrZXkSFAoFdmFsdWUYAiABKAlSBXZhbHVlGnEKEVJhdGVMaW1pdE92ZXJyaWRlEioKEXJlcXVlc3RzX3Blcl91bml0GAEgASgNUg9yZXF1ZXN0c1BlclVuaXQSMAoEdW5pdBgCIAEoDjIcLmVudm95LnR5cGUudjMuUmF0ZUxpbWl0VW5pdFIEdW5pdGIGcHJvdG8z',
  },
  {
    name: 'google/protobuf/duration.proto',
    imports: [],
    symbols: ['google.protobuf.Duration'],
    base64:
      'Ch5nb29nbGUvcHJvdG9idWYvZHVyYXRpb24ucHJvdG8SD2dvb2dsZS5wcm90b2J1ZiI6CghEdXJhdGlvbhIYCgdzZWNvbmRzGAEgASgDUgdzZWNvbmRzEhQKBW5hbm9zGAIgASgFUgVuYW5vc2IGcHJvdG8z',
  },
  {
    name: 'google/protobuf/struct.proto',
    imports: [],
    symbols: [
      'google.protobuf.Struct',
      'google.protobuf.Value',
      'google.protobuf.NullValue',
      'google.protobuf.ListValue',
    ],
    base64:
      'Chxnb29nbGUvcHJvdG9idWYvc3RydWN0LnByb3RvEg9nb29nbGUucHJvdG9idWYimAEKBlN0cnVjdBI7CgZmaWVsZHMYASADKAsyIy5nb29nbGUucHJvdG9idWYuU3RydWN0LkZpZWxkc0VudHJ5UgZmaWVsZHMaUQoLRmllbGRzRW50cnkSEAoDa2V5GAEgASgJUgNrZXkSLAoFdmFsdWUYAiABKAsyFi5nb29nbGUucHJvdG9idWYuVmFsdWVSBXZhbHVlOgI4ASKyAgoFVmFsdWUSOwoKbnVsbF92YWx1ZRgBIAEoDjIaLmdvb2dsZS5wcm90b2J1Zi5OdWxsVmFsdWVIAFIJbnVsbFZhbHVlEiMKDG51bWJlcl92YWx1ZRgCIAEoAUgAUgtudW1iZXJWYWx1ZRIjCgxzdHJpbmdfdmFsdWUYAyABKAlIAFILc3RyaW5nVmFsdWUSHwoKYm9vbF92YWx1ZRgEIAEoCEgAUglib29sVmFsdWUSPAoMc3RydWN0X3ZhbHVlGAUgASgLMhcuZ29vZ2xlLnByb3RvYnVmLlN0cnVjdEgAUgtzdHJ1Y3RWYWx1ZRI7CgpsaXN0X3ZhbHVlGAYgASgLMhouZ29vZ2xlLnByb3RvYnVmLkxpc3RWYWx1ZUgAUglsaXN0VmFsdWVCBgoEa2luZCI7CglMaXN0VmFsdWUSLgoGdmFsdWVzGAEgAygLMhYuZ29vZ2xlLnByb3RvYnVmLlZhbHVlUgZ2YWx1ZXMqGwoJTnVsbFZhbHVlEg4KCk5VTExfVkFMVUUQAGIGcHJvdG8z',
  },
  {
    name: 'google/protobuf/timestamp.proto',
    imports: [],
    symbols: ['google.protobuf.Timestamp'],
    base64:
      'Ch9nb29nbGUvcHJvdG9idWYvdGltZXN0YW1wLnByb3RvEg9nb29nbGUucHJvdG9idWYiOwoJVGltZXN0YW1wEhgKB3NlY29uZHMYASABKANSB3NlY29uZHMSFAoFbmFub3MYAiABKAVSBW5hbm9zYgZwcm90bzM=',
  },
  {
    name: 'envoy/service/ratelimit/v3/rls.proto',
    imports: [
      'envoy/config/core/v3/base.proto',
      'envoy/extensions/common/ratelimit/v3/ratelimit.proto',
      'google/protobuf/duration.proto',
      'google/protobuf/struct.proto',
      'google/protobuf/timestamp.proto',
      'google/protobuf/wrappers.proto',
    ],
    symbols: [
      'envoy.service.ratelimit.v3.RateLimitService',
      'envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit',
      'envoy.service.ratelimit.v3.RateLimitRequest',
      'envoy.service.ratelimit.v3.RateLimitResponse',
      'envoy.service.ratelimit.v3.RateLimitResponse.Code',
      'envoy.service.ratelimit.v3.RateLimitResponse.RateLimit',
      'envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit',
      'envoy.service.ratelimit.v3.RateLimitResponse.Quota',
      'envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus',
    ],
    base64:
      'CiRlbnZveS9zZXJ2aWNlL3JhdGVsaW1pdC92My9ybHMucHJvdG8SGmVudm95LnNlcnZpY2UucmF0ZWxpbWl0LnYzGh9lbnZveS9jb25maWcvY29yZS92My9iYXNlLnByb3RvGjRlbnZveS9leHRlbnNpb25zL2NvbW1vbi9yYXRlbGltaXQvdjMvcmF0ZWxpbWl0LnByb3RvGh5nb29nbGUvcHJvdG9idWYvZHVyYXRpb24ucHJvdG8aHGdvb2dsZS9wcm90b2J1Zi9zdHJ1Y3QucHJvdG8aH2dvb2dsZS9wcm90b2J1Zi90aW1lc3RhbXAucHJvdG8aHmdvb2dsZS9wcm90b2J1Zi93cmFwcGVycy5wcm90byKoAQoQUmF0ZUxpbWl0UmVxdWVzdBIWCgZkb21haW4YASABKAlSBmRvbWFpbhJbCgtkZXNjcmlwdG9ycxgCIAMoCzI5LmVudm95LmV4dGVuc2lvbnMuY29tbW9uLnJhdGVsaW1pdC52My5SYXRlTGltaXREZXNjcmlwdG9yUgtkZXNjcmlwdG9ycxIfCgtoaXRzX2FkZGVuZBgDIAEoDVIKaGl0c0FkZGVuZCKeCwoRUmF0ZUxpbWl0UmVzcG9uc2USVQoMb3ZlcmFsbF9jb2RlGAEgASgOMjIuZW52b3kuc2VydmljZS5yYXRlbGltaXQudjMuUmF0ZUxpbWl0UmVzcG9uc2UuQ29kZVILb3ZlcmFsbENvZGUSWgoIc3RhdHVzZXMYAiADKAsyPi5lbnZveS5zZXJ2aWNlLnJhdGVsaW1pdC52My5SYXRlTGltaXRSZXNwb25zZS5EZXNjcmlwdG9yU3RhdHVzUghzdGF0dXNlcxJYChdyZXNwb25zZV9oZWFkZXJzX3RvX2FkZBgDIAMoCzIhLmVudm95LmNvbmZpZy5jb3JlLnYzLkhlYWRlclZhbHVlUhRyZXNwb25zZUhlYWRlcnNUb0FkZBJWChZyZXF1ZXN0X2hlYWRlcnNfdG9fYWRkGAQgAygLMiEuZW52b3kuY29uZmlnLmNvcmUudjMuSGVhZGVyVmFsdWVSE3JlcXVlc3RIZWFkZXJzVG9BZGQSGQoIcmF3X2JvZHkYBSABKAxSB3Jhd0JvZHkSQgoQZHluYW1pY19tZXRhZGF0YRgGIAEoCzIXLmdvb2dsZS5wcm90b2J1Zi5TdHJ1Y3RSD2R5bmFtaWNNZXRhZGF0YRJJCgVxdW90YRgHIAEoCzIzLmVudm95LnNlcnZpY2UucmF0ZWxpbWl0LnYzLlJhdGVMaW1pdFJlc3BvbnNlLlF1b3RhUgVxdW90YRrDAgoJUmF0ZUxpbWl0EioKEXJlcXVlc3RzX3Blcl91bml0GAEgASgNUg9yZXF1ZXN0c1BlclVuaXQSUAoEdW5pdBgCIAEoDjI8LmVudm95LnNlcnZpY2UucmF0ZWxpbWl0LnYzLlJhdGVMaW1pdFJlc3BvbnNlLlJhdGVMaW1pdC5Vbml0UgR1bml0EhIKBG5hbWUYAyABKAlSBG5hbWUSRQoPdW5pdF9tdWx0aXBsaWVyGAQgASgLMhwuZ29vZ2xlLnByb3RvYnVmLlVJbnQzMlZhbHVlUg51bml0TXVsdGlwbGllciJdCgRVbml0EgsKB1VOS05PV04QABIKCgZTRUNPTkQQARIKCgZNSU5VVEUQAhIICgRIT1VSEAMSBwoDREFZEAQSCAoEV0VFSxAHEgkKBU1PTlRIEAUSCAoEWUVBUhAGGooBCgVRdW90YRIaCghyZXF1ZXN0cxgBIAEoDVIIcmVxdWVzdHMSPQoLdmFsaWRfdW50aWwYAiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wSABSCnZhbGlkVW50aWwSDgoCaWQYAyABKAlSAmlkQhYKFGV4cGlyYXRpb25fc3BlY2lmaWVyGvkCChBEZXNjcmlwdG9yU3RhdHVzEkYKBGNvZGUYASABKA4yMi5lbnZveS5zZXJ2aWNlLnJhdGVsaW1pdC52My5SYXRlTGltaXRSZXNwb25zZS5Db2RlUgRjb2RlElwKDWN1cnJlbnRfbGltaXQYAiABKAsyNy5lbnZveS5zZXJ2aWNlLnJhdGVsaW1pdC52My5SYXRlTGltaXRSZXNwb25zZS5SYXRlTGltaXRSDGN1cnJlbnRMaW1pdBInCg9saW1pdF9yZW1haW5pbmcYAyABKA1SDmxpbWl0UmVtYWluaW5nEksKFGR1cmF0aW9uX3VudGlsX3Jlc2V0GAQgASgLMhkuZ29vZ2xlLnByb3RvYnVmLkR1cmF0aW9uUhJkdXJhdGlvblVudGlsUmVzZXQSSQoFcXVvdGEYBSABKAsyMy5lbnZveS5zZXJ2aWNlLnJhdGVsaW1pdC52My5SYXRlTGltaXRSZXNwb25zZS5RdW90YVIFcXVvdGEiKwoEQ29kZRILCgdVTktOT1dOEAASBgoCT0sQARIOCgpPVkVSX0xJTUlUEAIyhgEKEFJhdGVMaW1pdFNlcnZpY2UScgoPU2hvdWxkUmF0ZUxpbWl0EiwuZW52b3kuc2VydmljZS5yYXRlbGltaXQudjMuUmF0ZUxpbWl0UmVxdWVzdBotLmVudm95LnNlcnZpY2UucmF0ZWxpbWl0LnYzLlJhdGVMaW1pdFJlc3BvbnNlKAAwAGIGcHJvdG8z',
  },
  {
    name: 'health/v1/health.proto',
    imports: [],
    symbols: [
      'grpc.health.v1.HealthListRequest',
      'grpc.health.v1.HealthListResponse',
      'grpc.health.v1.HealthCheckRequest',
      'grpc.health.v1.HealthCheckResponse',
      'grpc.health.v1.HealthCheckResponse.ServingStatus',
      'grpc.health.v1.Health',
      'grpc.health.v1.Health.Check',
      'grpc.health.v1.Health.Watch',
      'grpc.health.v1.Health.List',
    ],
    base64:
      'ChZoZWFsdGgvdjEvaGVhbHRoLnByb3RvEg5ncnBjLmhlYWx0aC52MSITChFIZWFsdGhMaXN0UmVxdWVzdCLEAQoSSGVhbHRoTGlzdFJlc3BvbnNlEkwKCHN0YXR1c2VzGAEgAygLMjAuZ3JwYy5oZWFsdGgudjEuSGVhbHRoTGlzdFJlc3BvbnNlLlN0YXR1c2VzRW50cnlSCHN0YXR1c2VzGmAKDVN0YXR1c2VzRW50cnkSEAoDa2V5GAEgASgJUgNrZXkSOQoFdmFsdWUYAiABKAsyIy5ncnBjLmhlYWx0aC52MS5IZWFsdGhDaGVja1Jlc3BvbnNlUgV2YWx1ZToCOAEiLgoSSGVhbHRoQ2hlY2tSZXF1ZXN0EhgKB3NlcnZpY2UYASABKAlSB3NlcnZpY2UisQEKE0hlYWx0aENoZWNrUmVzcG9uc2USSQoGc3RhdHVzGAEgASgOMjEuZ3JwYy5oZWFsdGgudjEuSGVhbHRoQ2hlY2tSZXNwb25zZS5TZXJ2aW5nU3RhdHVzUgZzdGF0dXMiTwoNU2VydmluZ1N0YXR1cxILCgdVTktOT1dOEAASCwoHU0VSVklORxABEg8KC05PVF9TRVJWSU5HEAISEwoPU0VSVklDRV9VTktOT1dOEAMyhwIKBkhlYWx0aBJUCgVDaGVjaxIiLmdycGMuaGVhbHRoLnYxLkhlYWx0aENoZWNrUmVxdWVzdBojLmdycGMuaGVhbHRoLnYxLkhlYWx0aENoZWNrUmVzcG9uc2UoADAAElQKBVdhdGNoEiIuZ3JwYy5oZWFsdGgudjEuSGVhbHRoQ2hlY2tSZXF1ZXN0GiMuZ3JwYy5oZWFsdGgudjEuSGVhbHRoQ2hlY2tSZXNwb25zZSgAMAESUQoETGlzdBIhLmdycGMuaGVhbHRoLnYxLkhlYWx0aExpc3RSZXF1ZXN0GiIuZ3JwYy5oZWFsdGgudjEuSGVhbHRoTGlzdFJlc3BvbnNlKAAwAGIGcHJvdG8z',
  },
  {
    name: 'grpc/reflection/v1/reflection.proto',
    imports: [],
    symbols: [
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1.ServerReflection.ServerReflectionInfo',
      'grpc.reflection.v1.ServerReflectionRequest',
      'grpc.reflection.v1.ExtensionRequest',
      'grpc.reflection.v1.ServerReflectionResponse',
      'grpc.reflection.v1.FileDescriptorResponse',
      'grpc.reflection.v1.ExtensionNumberResponse',
      'grpc.reflection.v1.ListServiceResponse',
      'grpc.reflection.v1.ServiceResponse',
      'grpc.reflection.v1.ErrorResponse',
    ],
    base64:
      'CiNncnBjL3JlZmxlY3Rpb24vdjEvcmVmbGVjdGlvbi5wcm90bxISZ3JwYy5yZWZsZWN0aW9uLnYxIvMCChdTZXJ2ZXJSZWZsZWN0aW9uUmVxdWVzdBISCgRob3N0GAEgASgJUgRob3N0EioKEGZpbGVfYnlfZmlsZW5hbWUYAyABKAlIAFIOZmlsZUJ5RmlsZW5hbWUSNgoWZmlsZV9jb250YWluaW5nX3N5bWJvbBgEIAEoCUgAUhRmaWxlQ29udGFpbmluZ1N5bWJvbBJiChlmaWxlX2NvbnRhaW5pbmdfZXh0ZW5zaW9uGAUgASgLMiQuZ3JwYy5yZWZsZWN0aW9uLnYxLkV4dGVuc2lvblJlcXVlc3RIAFIXZmlsZUNvbnRhaW5pbmdFeHRlbnNpb24SQgodYWxsX2V4dGVuc2lvbl9udW1iZXJzX29mX3R5cGUYBiABKAlIAFIZYWxsRXh0ZW5zaW9uTnVtYmVyc09mVHlwZRIlCg1saXN0X3NlcnZpY2VzGAcgASgJSABSDGxpc3RTZXJ2aWNlc0IRCg9tZXNzYWdlX3JlcXVlc3QiZgoQRXh0ZW5zaW9uUmVxdWVzdBInCg9jb250YWluaW5nX3R5cGUYASABKAlSDmNvbnRhaW5pbmdUeXBlEikKEGV4dGVuc2lvbl9udW1iZXIYAiABKAVSD2V4dGVuc2lvbk51bWJlciKuBAoYU2VydmVyUmVmbGVjdGlvblJlc3BvbnNlEh0KCnZhbGlkX2hvc3QYASABKAlSCXZhbGlkSG9zdBJWChBvcmlnaW5hbF9yZXF1ZXN0GAIgASgLMisuZ3JwYy5yZWZsZWN0aW9uLnYxLlNlcnZlclJlZmxlY3Rpb25SZXF1ZXN0Ug9vcmlnaW5hbFJlcXVlc3QSZgoYZmlsZV9kZXNjcmlwdG9yX3Jlc3BvbnNlGAQgASgLMiouZ3JwYy5yZWZsZWN0aW9uLnYxLkZpbGVEZXNjcmlwdG9yUmVzcG9uc2VIAFIWZmlsZURlc2NyaXB0b3JSZXNwb25zZRJyCh5hbGxfZXh0ZW5zaW9uX251bWJlcnNfcmVzcG9uc2UYBSABKAsyKy5ncnBjLnJlZmxlY3Rpb24udjEuRXh0ZW5zaW9uTnVtYmVyUmVzcG9uc2VIAFIbYWxsRXh0ZW5zaW9uTnVtYmVyc1Jlc3BvbnNlEl8KFmxpc3Rfc2VydmljZXNfcmVzcG9uc2UYBiABKAsyJy5ncnBjLnJlZmxlY3Rpb24udjEuTGlzdFNlcnZpY2VSZXNwb25zZUgAUhRsaXN0U2VydmljZXNSZXNwb25zZRJKCg5lcnJvcl9yZXNwb25zZRgHIAEoCzIhLmdycGMucmVmbGVjdGlvbi52MS5FcnJvclJlc3BvbnNlSABSDWVycm9yUmVzcG9uc2VCEgoQbWVzc2FnZV9yZXNwb25zZSJMChZGaWxlRGVzY3JpcHRvclJlc3BvbnNlEjIKFWZpbGVfZGVzY3JpcHRvcl9wcm90bxgBIAMoDFITZmlsZURlc2NyaXB0b3JQcm90byJqChdFeHRlbnNpb25OdW1iZXJSZXNwb25zZRIkCg5iYXNlX3R5cGVfbmFtZRgBIAEoCVIMYmFzZVR5cGVOYW1lEikKEGV4dGVuc2lvbl9udW1iZXIYAiADKAVSD2V4dGVuc2lvbk51bWJlciJUChNMaXN0U2VydmljZVJlc3BvbnNlEj0KB3NlcnZpY2UYASADKAsyIy5ncnBjLnJlZmxlY3Rpb24udjEuU2VydmljZVJlc3BvbnNlUgdzZXJ2aWNlIiUKD1NlcnZpY2VSZXNwb25zZRISCgRuYW1lGAEgASgJUgRuYW1lIlMKDUVycm9yUmVzcG9uc2USHQoKZXJyb3JfY29kZRgBIAEoBVIJZXJyb3JDb2RlEiMKDWVycm9yX21lc3NhZ2UYAiABKAlSDGVycm9yTWVzc2FnZTKJAQoQU2VydmVyUmVmbGVjdGlvbhJ1ChRTZXJ2ZXJSZWZsZWN0aW9uSW5mbxIrLmdycGMucmVmbGVjdGlvbi52MS5TZXJ2ZXJSZWZsZWN0aW9uUmVxdWVzdBosLmdycGMucmVmbGVjdGlvbi52MS5TZXJ2ZXJSZWZsZWN0aW9uUmVzcG9uc2UoATABYgZwcm90bzM=',
  },
  {
    name: 'grpc/reflection/v1alpha/reflection.proto',
    imports: [],
    symbols: [
      'grpc.reflection.v1alpha.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection.ServerReflectionInfo',
      'grpc.reflection.v1alpha.ServerReflectionRequest',
      'grpc.reflection.v1alpha.ExtensionRequest',
      'grpc.reflection.v1alpha.ServerReflectionResponse',
      'grpc.reflection.v1alpha.FileDescriptorResponse',
      'grpc.reflection.v1alpha.ExtensionNumberResponse',
      'grpc.reflection.v1alpha.ListServiceResponse',
      'grpc.reflection.v1alpha.ServiceResponse',
      'grpc.reflection.v1alpha.ErrorResponse',
    ],
    base64:
      'CihncnBjL3JlZmxlY3Rpb24vdjFhbHBoYS9yZWZsZWN0aW9uLnByb3RvEhdncnBjLnJlZmxlY3Rpb24udjFhbHBoYSL4AgoXU2VydmVyUmVmbGVjdGlvblJlcXVlc3QSEgoEaG9zdBgBIAEoCVIEaG9zdBIqChBmaWxlX2J5X2ZpbGVuYW1lGAMgASgJSABSDmZpbGVCeUZpbGVuYW1lEjYKFmZpbGVfY29udGFpbmluZ19zeW1ib2wYBCABKAlIAFIUZmlsZUNvbnRhaW5pbmdTeW1ib2wSZwoZZmlsZV9jb250YWluaW5nX2V4dGVuc2lvbhgFIAEoCzIpLmdycGMucmVmbGVjdGlvbi52MWFscGhhLkV4dGVuc2lvblJlcXVlc3RIAFIXZmlsZUNvbnRhaW5pbmdFeHRlbnNpb24SQgodYWxsX2V4dGVuc2lvbl9udW1iZXJzX29mX3R5cGUYBiABKAlIAFIZYWxsRXh0ZW5zaW9uTnVtYmVyc09mVHlwZRIlCg1saXN0X3NlcnZpY2VzGAcgASgJSABSDGxpc3RTZXJ2aWNlc0IRCg9tZXNzYWdlX3JlcXVlc3QiZgoQRXh0ZW5zaW9uUmVxdWVzdBInCg9jb250YWluaW5nX3R5cGUYASABKAlSDmNvbnRhaW5pbmdUeXBlEikKEGV4dGVuc2lvbl9udW1iZXIYAiABKAVSD2V4dGVuc2lvbk51bWJlciLHBAoYU2VydmVyUmVmbGVjdGlvblJlc3BvbnNlEh0KCnZhbGlkX2hvc3QYASABKAlSCXZhbGlkSG9zdBJbChBvcmlnaW5hbF9yZXF1ZXN0GAIgASgLMjAuZ3JwYy5yZWZsZWN0aW9uLnYxYWxwaGEuU2VydmVyUmVmbGVjdGlvblJlcXVlc3RSD29yaWdpbmFsUmVxdWVzdBJrChhmaWxlX2Rlc2NyaXB0b3JfcmVzcG9uc2UYBCABKAsyLy5ncnBjLnJlZmxlY3Rpb24udjFhbHBoYS5GaWxlRGVzY3JpcHRvclJlc3BvbnNlSABSFmZpbGVEZXNjcmlwdG9yUmVzcG9uc2USdwoeYWxsX2V4dGVuc2lvbl9udW1iZXJzX3Jlc3BvbnNlGAUgASgLMjAuZ3JwYy5yZWZsZWN0aW9uLnYxYWxwaGEuRXh0ZW5zaW9uTnVtYmVyUmVzcG9uc2VIAFIbYWxsRXh0ZW5zaW9uTnVtYmVyc1Jlc3BvbnNlEmQKFmxpc3Rfc2VydmljZXNfcmVzcG9uc2UYBiABKAsyLC5ncnBjLnJlZmxlY3Rpb24udjFhbHBoYS5MaXN0U2VydmljZVJlc3BvbnNlSABSFGxpc3RTZXJ2aWNlc1Jlc3BvbnNlEk8KDmVycm9yX3Jlc3BvbnNlGAcgASgLMiYuZ3JwYy5yZWZsZWN0aW9uLnYxYWxwaGEuRXJyb3JSZXNwb25zZUgAUg1lcnJvclJlc3BvbnNlQhIKEG1lc3NhZ2VfcmVzcG9uc2UiTAoWRmlsZURlc2NyaXB0b3JSZXNwb25zZRIyChVmaWxlX2Rlc2NyaXB0b3JfcHJvdG8YASADKAxSE2ZpbGVEZXNjcmlwdG9yUHJvdG8iagoXRXh0ZW5zaW9uTnVtYmVyUmVzcG9uc2USJAoOYmFzZV90eXBlX25hbWUYASABKAlSDGJhc2VUeXBlTmFtZRIpChBleHRlbnNpb25fbnVtYmVyGAIgAygFUg9leHRlbnNpb25OdW1iZXIiWQoTTGlzdFNlcnZpY2VSZXNwb25zZRJCCgdzZXJ2aWNlGAEgAygLMiguZ3JwYy5yZWZsZWN0aW9uLnYxYWxwaGEuU2VydmljZVJlc3BvbnNlUgdzZXJ2aWNlIiUKD1NlcnZpY2VSZXNwb25zZRISCgRuYW1lGAEgASgJUgRuYW1lIlMKDUVycm9yUmVzcG9uc2USHQoKZXJyb3JfY29kZRgBIAEoBVIJZXJyb3JDb2RlEiMKDWVycm9yX21lc3NhZ2UYAiABKAlSDGVycm9yTWVzc2FnZTKTAQoQU2VydmVyUmVmbGVjdGlvbhJ/ChRTZXJ2ZXJSZWZsZWN0aW9uSW5mbxIwLmdycGMucmVmbGVjdGlvbi52MWFscGhhLlNlcnZlclJlZmxlY3Rpb25SZXF1ZXN0GjEuZ3JwYy5yZWZsZWN0aW9uLnYxYWxwaGEuU2VydmVyUmVmbGVjdGlvblJlc3BvbnNlKAEwAWIGcHJvdG8z',
  },
];
