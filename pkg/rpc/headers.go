package rpc

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// Names of metadata that responses carry to the edge.
const (
	// HeaderHTTPStatus carries the HTTP status of a success, if it is not the method's usual one.
	HeaderHTTPStatus = "rotaloom-http-status"
	// HeaderContentLocation carries the path of a resource that shows the progress of the work that
	// the request started.
	HeaderContentLocation = "content-location"
	// HeaderContentLanguage carries the language of texts that follow Accept-Language. It is "" if
	// none of the requested languages is available.
	HeaderContentLanguage = "content-language"
	// HeaderVersion carries the version of the object in the response, if the response has no
	// property for it.
	HeaderVersion = "rotaloom-version"
)

// SetHTTPStatus sets the HTTP status of a success, for example 202.
func SetHTTPStatus(ctx context.Context, code int) error {
	return setHeader(ctx, HeaderHTTPStatus, strconv.Itoa(code))
}

// PartialSuccess sets HTTP status 207: some items of a bulk request failed, and the body is the
// failure of the response message.
func PartialSuccess(ctx context.Context) error {
	return SetHTTPStatus(ctx, http.StatusMultiStatus)
}

// SetContentLocation sets the path of the resource that shows the progress of the work that the
// request started.
func SetContentLocation(ctx context.Context, path string) error {
	return setHeader(ctx, HeaderContentLocation, path)
}

// SetContentLanguage marks the response as following Accept-Language, and sets its language unless
// tag is "".
func SetContentLanguage(ctx context.Context, tag string) error {
	return setHeader(ctx, HeaderContentLanguage, tag)
}

// SetVersion reports the version of the object in the response, which the edge returns as ETag.
// Responses with a field "version" need no such report.
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

// requestMetadata returns the metadata of a call, which must not be changed.
func requestMetadata(ctx context.Context) metadata.MD {
	if md, ok := ctx.Value(localMetadata{}).(metadata.MD); ok {
		return md // The same map, as for a call over the network: no copy.
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
