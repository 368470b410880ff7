package rpc

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// Names of metadata that travel with responses, for the edge.
const (
	// HeaderHTTPStatus carries the HTTP status of a success that is not the
	// usual one of its method.
	HeaderHTTPStatus = "rotaloom-http-status"
	// HeaderContentLocation carries the path of a resource that shows how
	// the work that the request started goes on.
	HeaderContentLocation = "content-location"
	// HeaderContentLanguage carries the language of texts that follow
	// Accept-Language, or "" when they do but none was asked for that is there.
	HeaderContentLanguage = "content-language"
	// HeaderVersion carries the version of the object that a response is about, where the
	// response itself has no property for it.
	HeaderVersion = "rotaloom-version"
)

// SetHTTPStatus sets the HTTP status of a success, for example 202.
func SetHTTPStatus(ctx context.Context, code int) error {
	return setHeader(ctx, HeaderHTTPStatus, strconv.Itoa(code))
}

// PartialSuccess says that some items of a bulk request failed: HTTP status
// 207, whose body is the failure of the response message.
func PartialSuccess(ctx context.Context) error {
	return SetHTTPStatus(ctx, http.StatusMultiStatus)
}

// SetContentLocation names the resource that shows how the work goes on that
// the request started.
func SetContentLocation(ctx context.Context, path string) error {
	return setHeader(ctx, HeaderContentLocation, path)
}

// SetContentLanguage says that the response follows Accept-Language, and its
// language unless that is "".
func SetContentLanguage(ctx context.Context, tag string) error {
	return setHeader(ctx, HeaderContentLanguage, tag)
}

// SetVersion reports the version of the object that the response is about, which the edge
// shows as ETag. Responses with a field "version" need no such report.
func SetVersion(ctx context.Context, version int64) error {
	return setHeader(ctx, HeaderVersion, strconv.FormatInt(version, 10))
}

// setHeader sets a header of the response. A method that is called as a function has no
// connection, and so no headers.
func setHeader(ctx context.Context, name, value string) error {
	if grpc.ServerTransportStreamFromContext(ctx) == nil {
		return nil
	}
	if err := grpc.SetHeader(ctx, metadata.Pairs(name, value)); err != nil {
		return fmt.Errorf("setting the header %s: %w", name, err)
	}
	return nil
}

// metadataOf returns the metadata of a call, which nobody changes.
func metadataOf(ctx context.Context) metadata.MD {
	if md, ok := ctx.Value(localMetadata{}).(metadata.MD); ok {
		return md // Not a copy, as that of a call over the network.
	}
	md, _ := metadata.FromIncomingContext(ctx)
	return md
}

// incoming returns the first value of a header of the request, or "".
func (c *call) incoming(name string) string {
	values := c.metadata[name]
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
