package rpc

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

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
	// HeaderPreferenceApplied carries the preference of the request that the method has honored.
	HeaderPreferenceApplied = "preference-applied"
	// HeaderContentLanguage carries the language of texts that follow Accept-Language. It is "" if
	// none of the requested languages is available.
	HeaderContentLanguage = "content-language"
	// HeaderVersion carries the version of the object in the response, if the response has no
	// property for it.
	HeaderVersion = "rotaloom-version"
	// HeaderWarning carries a warning about a request that was carried out, in ASCII. There is one value
	// for each warning.
	HeaderWarning = "rotaloom-warning"
	// HeaderMemento carries the past instant whose state the response shows, as an HTTP date.
	HeaderMemento = "memento-datetime"
	// HeaderPage carries a relation and the query parameter that names its page: "next after=7".
	// There is one value for each page.
	HeaderPage = "rotaloom-page"
	// HeaderIssuedTo carries the owner of the token in the response, for the access log of the edge. The
	// caller of such a request has no token yet.
	HeaderIssuedTo = "rotaloom-issued-to"
)

// TokenOwner is whom a token belongs to.
type TokenOwner struct {
	// Tenant is the id of the owner's tenant.
	Tenant int64
	// User is the name of the user, or the id of the client if it works for itself.
	User string
	// Client is the id of the client that the token was issued to.
	Client string
}

// SetTokenOwner reports the owner of the token in the response.
func SetTokenOwner(ctx context.Context, o TokenOwner) error {
	return setHeader(ctx, HeaderIssuedTo, url.Values{
		"tenant": {strconv.FormatInt(o.Tenant, 10)}, "user": {o.User}, "client": {o.Client},
	}.Encode())
}

// ParseTokenOwner reads the value of [HeaderIssuedTo].
func ParseTokenOwner(text string) (TokenOwner, error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return TokenOwner{}, fmt.Errorf("reading the header %s: %w", HeaderIssuedTo, err)
	}
	id, err := strconv.ParseInt(values.Get("tenant"), 10, 64)
	if err != nil {
		return TokenOwner{}, fmt.Errorf("reading the header %s: %w", HeaderIssuedTo, err)
	}
	return TokenOwner{Tenant: id, User: values.Get("user"), Client: values.Get("client")}, nil
}

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

// SetMemento reports that the response shows the state at a past instant. The edge returns it as
// Memento-Datetime (RFC 7089), whose form has whole seconds: a fraction is cut off.
func SetMemento(ctx context.Context, at time.Time) error {
	return setHeader(ctx, HeaderMemento, at.UTC().Format(http.TimeFormat))
}

// SetPreferenceApplied tells the caller which preference of the request was honored.
func SetPreferenceApplied(ctx context.Context, preference string) error {
	return setHeader(ctx, HeaderPreferenceApplied, preference)
}

// AddWarning tells the caller that a request was carried out, but probably not as meant. The edge
// returns the text as a Warning.
func AddWarning(ctx context.Context, text string) error {
	return setHeader(ctx, HeaderWarning, strconv.QuoteToASCII(text))
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

// Page names the pages around the one in a response, by cursors. A cursor is any text; operations
// take the same texts as "before" and "after".
type Page struct {
	// Prev is the "before" of the previous page, or "" if there is none.
	Prev string
	// Next is the "after" of the next page, or "" if there is none.
	Next string
}

// SetPage reports the pages around the one in the response. The edge returns them as Link, together
// with the first page, if the contract says that the method has pages.
func SetPage(ctx context.Context, page Page) error {
	values := []string{"first "}
	if page.Prev != "" {
		values = append(values, "prev "+url.Values{"before": {page.Prev}}.Encode())
	}
	if page.Next != "" {
		values = append(values, "next "+url.Values{"after": {page.Next}}.Encode())
	}
	return setPages(ctx, values)
}

// SetPageNumber is [SetPage] for operations whose pages are numbered from 1. more reports whether a
// page follows.
func SetPageNumber(ctx context.Context, number int32, more bool) error {
	values := []string{"first page=1"}
	if number > 1 {
		values = append(values, fmt.Sprintf("prev page=%d", number-1))
	}
	if more {
		values = append(values, fmt.Sprintf("next page=%d", number+1))
	}
	return setPages(ctx, values)
}

// SetNextPage is [SetPage] for pages that pkg/cursor makes, which have no previous page. next is the "after"
// of the next page, or "" if there is none.
func SetNextPage(ctx context.Context, next string) error {
	values := []string{"first after="}
	if next != "" {
		values = append(values, "next "+url.Values{"after": {next}}.Encode())
	}
	return setPages(ctx, values)
}

func setPages(ctx context.Context, values []string) error {
	for _, value := range values {
		if err := setHeader(ctx, HeaderPage, value); err != nil {
			return err
		}
	}
	return nil
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
