/** Full paths of what the service answers over gRPC. */
export const SHOULD_RATE_LIMIT = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
export const HEALTH_CHECK = '/grpc.health.v1.Health/Check';
export const HEALTH_WATCH = '/grpc.health.v1.Health/Watch';
export const REFLECTION_PATHS = ['v1', 'v1alpha'].map(
  (version) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
);
