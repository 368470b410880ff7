// Command client makes ten calls with the client that oapi-codegen generates from the API description. It prints a line
// for each call that returns what it must.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"net/http"
	"os"

	"example.com/client/api"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// connect returns a client with the address, the authority and the token in the environment.
func connect() (*api.ClientWithResponses, error) {
	pem, err := os.ReadFile(os.Getenv("CA"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	return api.NewClientWithResponses(os.Getenv("API"), api.WithHTTPClient(&http.Client{Transport: transport}),
		api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
			return nil
		}))
}

// pass reports a call, or returns an error if it did not return what it must.
func pass(call string, err error, status, want int, holds bool) error {
	if err == nil && (status != want || !holds) {
		err = fmt.Errorf("status %d, holds %v", status, holds)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	fmt.Println("passed:", call)
	return nil
}

func text(s string) *string { return &s }

func run(ctx context.Context) error {
	c, err := connect()
	if err != nil {
		return err
	}
	limits, err := c.GetLimitsWithResponse(ctx)
	if err := pass("limits", err, limits.StatusCode(), 200, limits.JSON200 != nil); err != nil {
		return err
	}
	zones, err := c.ListTimeZonesWithResponse(ctx, nil)
	if err := pass("time zones", err, zones.StatusCode(), 200, zones.JSON200 != nil); err != nil {
		return err
	}
	user, err := c.GetCurrentUserInfoWithResponse(ctx, nil)
	if err := pass("user", err, user.StatusCode(), 200, user.JSON200 != nil); err != nil {
		return err
	}
	codes, err := c.ListPayCodesWithResponse(ctx, nil)
	if err := pass("pay codes", err, codes.StatusCode(), 200, codes.JSON200 != nil); err != nil {
		return err
	}
	return templates(ctx, c)
}

// templates creates, reads, changes and deletes a shift template.
func templates(ctx context.Context, c *api.ClientWithResponses) error {
	template := api.SchedulingShiftTemplate{
		Name: text("Early, of the Go client"), StartDateTime: text("1900-01-01T06:00:00"), EndDateTime: text("1900-01-01T14:00:00"),
	}
	created, err := c.CreateShiftTemplateWithResponse(ctx, &api.CreateShiftTemplateParams{IdempotencyKey: text("go-client-1")}, template)
	if err := pass("create", err, created.StatusCode(), 200, created.JSON200 != nil && created.JSON200.Id != nil); err != nil {
		return err
	}
	id := *created.JSON200.Id
	read, err := c.GetShiftTemplateWithResponse(ctx, id)
	if err := pass("read", err, read.StatusCode(), 200, read.JSON200 != nil && *read.JSON200.Name == *template.Name); err != nil {
		return err
	}
	list, err := c.ListShiftTemplatesWithResponse(ctx, nil)
	if err := pass("list", err, list.StatusCode(), 200, list.JSON200 != nil && len(*list.JSON200) > 0); err != nil {
		return err
	}
	template.Label = text("E")
	changed, err := c.UpdateShiftTemplateWithResponse(ctx, id, nil, template)
	if err := pass("change", err, changed.StatusCode(), 200, changed.JSON200 != nil && *changed.JSON200.Label == "E"); err != nil {
		return err
	}
	deleted, err := c.DeleteShiftTemplateWithResponse(ctx, id, nil)
	if err := pass("delete", err, deleted.StatusCode(), 204, true); err != nil {
		return err
	}
	gone, err := c.GetShiftTemplateWithResponse(ctx, id)
	return pass("read the deleted one", err, gone.StatusCode(), 404, gone.JSON404 != nil && *gone.JSON404.ErrorCode != "")
}
