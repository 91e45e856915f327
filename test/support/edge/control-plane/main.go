// A control plane for the tests: rules from standard input over ADS, its view of the client on standard output.
//
// Each line of input is a command in JSON: {"set": {name: config, …}, "remove": [name, …]} changes the resources in
// one step, where a config is a RateLimitConfig in proto3 JSON. It listens once the first one is obeyed. Each line of
// output is an event in JSON: where it listens, and every request that a client sent.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"sync"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	rules "github.com/envoyproxy/go-control-plane/ratelimit/config/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
)

type command struct {
	Set    map[string]json.RawMessage `json:"set"`
	Remove []string                   `json:"remove"`
}

type request struct {
	Protocol        string            `json:"protocol"`
	Stream          int64             `json:"stream"`
	TypeURL         string            `json:"typeUrl"`
	NodeID          string            `json:"nodeId"`
	NodeMetadata    map[string]any    `json:"nodeMetadata,omitempty"`
	Version         string            `json:"version,omitempty"`
	Nonce           string            `json:"nonce,omitempty"`
	InitialVersions map[string]string `json:"initialVersions,omitempty"`
	ErrorCode       int32             `json:"errorCode,omitempty"`
	Error           string            `json:"error,omitempty"`
}

var printing sync.Mutex

func report(event any) {
	printing.Lock()
	defer printing.Unlock()
	line, err := json.Marshal(event)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}

func main() {
	address := flag.String("listen", "127.0.0.1:0", "where to listen")
	flag.Parse()
	linear := cache.NewLinearCache(resource.RateLimitConfigType)
	mux := &cache.MuxCache{
		Classify:      func(r *cache.Request) string { return r.GetTypeUrl() },
		ClassifyDelta: func(r *cache.DeltaRequest) string { return r.GetTypeUrl() },
		Caches:        map[string]cache.Cache{resource.RateLimitConfigType: linear},
	}
	service := grpc.NewServer()
	discovery.RegisterAggregatedDiscoveryServiceServer(service, server.NewServer(context.Background(), mux, callbacks()))
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	obeyNext(lines, linear)
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(service.Serve(listener)) }()
	report(map[string]string{"listening": listener.Addr().String()})
	for obeyNext(lines, linear) {
	}
	service.Stop()
}

// obeyNext runs one command; false when standard input has ended: the test is over, or its process is.
func obeyNext(lines *bufio.Scanner, linear *cache.LinearCache) bool {
	if !lines.Scan() {
		return false
	}
	var next command
	if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
		log.Fatal(err)
	}
	changed := map[string]types.Resource{}
	for name, text := range next.Set {
		config := &rules.RateLimitConfig{}
		if err := protojson.Unmarshal(text, config); err != nil {
			log.Fatal(err)
		}
		config.Name = name
		changed[name] = config
	}
	if err := linear.UpdateResources(changed, next.Remove); err != nil {
		log.Fatal(err)
	}
	return true
}

func callbacks() server.Callbacks {
	return server.CallbackFuncs{
		StreamRequestFunc: func(stream int64, r *discovery.DiscoveryRequest) error {
			seen := describe("sotw", stream, r.GetTypeUrl(), r.GetNode())
			seen.Version, seen.Nonce = r.GetVersionInfo(), r.GetResponseNonce()
			seen.ErrorCode, seen.Error = r.GetErrorDetail().GetCode(), r.GetErrorDetail().GetMessage()
			report(seen)
			return nil
		},
		StreamDeltaRequestFunc: func(stream int64, r *discovery.DeltaDiscoveryRequest) error {
			seen := describe("delta", stream, r.GetTypeUrl(), r.GetNode())
			seen.Nonce, seen.InitialVersions = r.GetResponseNonce(), r.GetInitialResourceVersions()
			seen.ErrorCode, seen.Error = r.GetErrorDetail().GetCode(), r.GetErrorDetail().GetMessage()
			report(seen)
			return nil
		},
	}
}

func describe(protocol string, stream int64, typeURL string, node *core.Node) request {
	return request{
		Protocol: protocol, Stream: stream, TypeURL: typeURL,
		NodeID: node.GetId(), NodeMetadata: node.GetMetadata().AsMap(),
	}
}
