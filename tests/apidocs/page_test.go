// Package apidocs holds the page that shows the API description, in a real
// browser.
package apidocs

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// waitTimeout bounds a step of the browser. The longest takes some three seconds on two processors
// that many tests share.
const waitTimeout = time.Minute

// observer records events that must not happen while a page is used.
type observer struct {
	mu       sync.Mutex
	host     string
	problems []string
	requests int
}

func (o *observer) see(event any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		at, err := url.Parse(e.Request.URL)
		if err != nil || (at.Scheme != "data" && at.Host != o.host) {
			o.problems = append(o.problems, "a request to "+e.Request.URL)
		}
		o.requests++
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError {
			o.problems = append(o.problems, e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		o.problems = append(o.problems, e.ExceptionDetails.Error())
	}
}

// openTime is the time in which the page shows an operation, on a quiet machine.
const openTime = time.Second

// openPage starts a server with the page, and a browser that records what must not happen.
func openPage(t *testing.T) (*launch.Server, context.Context) {
	t.Helper()
	server := launch.Standalone(t)
	base, err := url.Parse(server.BaseURL)
	require.NoError(t, err)
	ctx := browse(t)
	seen := &observer{host: base.Host}
	chromedp.ListenTarget(ctx, seen.see)
	t.Cleanup(func() { seen.check(t) })
	do(t, ctx, "observe", network.Enable(), log.Enable(), runtime.Enable())
	return server, ctx
}

func (o *observer) check(t *testing.T) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	assert.Empty(t, o.problems)
	assert.Greater(t, o.requests, 4)
}

// A reader opens the page, logs in by password, calls an operation and sees the
// response. Nothing is loaded from elsewhere, and nothing offends the page's policy.
func TestPageLogsInAndCalls(t *testing.T) {
	t.Parallel()
	server, ctx := openPage(t)
	const dialog = `//div[contains(@class,"auth-container")][.//*[@id="oauth_username"]]`
	const operation = `//div[contains(@class,"opblock")][.//span[@data-path="/v1/platform/limits"]]`
	var title, response, focused string
	do(t, ctx, "open the root", chromedp.Navigate(server.BaseURL+"/"), chromedp.Text(`.info .title`, &title, chromedp.ByQuery))
	do(t, ctx, "fill in the log-in", chromedp.Click(`.auth-wrapper .authorize`, chromedp.ByQuery),
		chromedp.SendKeys(dialog+`//*[@id="oauth_username"]`, server.Credentials.Username),
		chromedp.SendKeys(dialog+`//*[@id="oauth_password"]`, server.Credentials.Password),
		chromedp.SendKeys(dialog+`//*[@id="client_id_password"]`, server.Credentials.ClientID),
		chromedp.SendKeys(dialog+`//*[@id="client_secret_password"]`, server.Credentials.ClientSecret))
	const isInDialog = `document.activeElement.closest(".modal-ux") ? "in the dialog" : document.activeElement.outerHTML`
	do(t, ctx, "log in", chromedp.Click(dialog+`//button[contains(@class,"authorize")]`),
		chromedp.WaitVisible(`//div[contains(@class,"auth-container")]//button[text()="Logout"]`),
		chromedp.Evaluate(isInDialog, &focused))
	assert.Equal(t, "in the dialog", focused, "the focus stays after the log-in")
	do(t, ctx, "close the dialog", chromedp.Click(`.btn-done`, chromedp.ByQuery), chromedp.WaitNotPresent(`.dialog-ux`, chromedp.ByQuery),
		chromedp.Evaluate(`document.activeElement.className`, &focused))
	assert.Contains(t, focused, "authorize", "the focus returns to the button that opened the dialog")
	do(t, ctx, "call an operation", chromedp.Click(`//div[@id="groups"]//a[text()="limit"]`),
		chromedp.Click(`//span[@data-path="/v1/platform/limits"]`),
		chromedp.WaitVisible(operation+`//table[contains(@class,"responses-table")]//td[text()="200"]`),
		chromedp.Click(operation+`//button[contains(@class,"execute")]`),
		chromedp.Text(operation+`//*[contains(@class,"live-responses-table")]//tbody`, &response))
	assert.Contains(t, title, "Rotaloom")
	assert.Contains(t, response, "bodyBytes")
}

// A reader finds operations by what they do, and opens them with the keyboard.
func TestPageFindsOperations(t *testing.T) {
	t.Parallel()
	server, ctx := openPage(t)
	do(t, ctx, "open the page", chromedp.Navigate(server.BaseURL+"/docs"), chromedp.WaitVisible(`#groups a`, chromedp.ByQuery))
	for text, want := range map[string]string{
		"create a person":        "POST /v1/commons/persons",
		"rotation":               "POST /v1/scheduling/schedule_pattern_templates",
		"who works tomorrow":     "POST /v1/scheduling/schedule/multi_read",
		"approve time off":       "POST /v1/scheduling/timeoff/apply_update",
		"export payroll":         "POST /v1/commons/payroll/export/async",
		"undo a rotation":        "POST /v1/scheduling/propagations/{id}/undo",
		"why does a shift exist": "GET /v1/scheduling/schedule/shifts/{id}/explanation",
	} {
		t.Run(text, func(t *testing.T) {
			var found []string
			do(t, ctx, "search", chromedp.Evaluate(`document.querySelector("#search").value = ""`, nil), chromedp.SendKeys(`#search`, text, chromedp.ByQuery),
				chromedp.Evaluate(`[...document.querySelectorAll("#results small")].slice(0, 3).map((e) => e.textContent)`, &found))
			assert.Contains(t, found, want, "is one of the first three")
		})
	}
	var focused string
	do(t, ctx, "open the first result", chromedp.Evaluate(`document.querySelector("#search").value = ""`, nil), chromedp.SendKeys(`#search`, "export payroll\t\r", chromedp.ByQuery),
		chromedp.WaitVisible(`.opblock.is-open`, chromedp.ByQuery),
		chromedp.Poll(`document.activeElement.closest(".opblock")?.querySelector("[data-path]").dataset.path`, &focused))
	assert.Equal(t, "/v1/commons/payroll/export/async", focused)
}

// timePage returns how long the page took to show an element, and the processor time of its main thread.
func timePage(t *testing.T, ctx context.Context, address, selector string) (took, used time.Duration) {
	t.Helper()
	var milliseconds float64
	var before, after time.Duration
	measure := func(into *time.Duration) chromedp.ActionFunc {
		return func(ctx context.Context) (err error) {
			*into, err = processorTime(ctx)
			return err
		}
	}
	do(t, ctx, "time "+address, measure(&before), chromedp.Navigate(address), chromedp.WaitVisible(selector, chromedp.ByQuery),
		chromedp.Evaluate(`performance.now()`, &milliseconds), measure(&after))
	return time.Duration(milliseconds * float64(time.Millisecond)), after - before
}

// processorTime returns the processor time of the page's main thread.
func processorTime(ctx context.Context) (time.Duration, error) {
	metrics, err := performance.GetMetrics().Do(ctx)
	if err != nil {
		return 0, err
	}
	for _, m := range metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second)), nil
		}
	}
	return 0, errors.New("the browser does not report TaskDuration")
}

// The page shows the first operation in time, and the first key leads to the operations. A slow or loaded machine is
// told apart by the introduction, which needs little more than Swagger UI itself.
func TestPageOpensInTime(t *testing.T) {
	t.Parallel()
	server, ctx := openPage(t)
	const operation = `#/Scheduling%3A%20schedule/multiReadSchedule`
	var skip string
	do(t, ctx, "measure", performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks))
	_, introduction := timePage(t, ctx, server.BaseURL+"/docs", `.info .title`)
	do(t, ctx, "leave the page", chromedp.Navigate("about:blank"))
	took, used := timePage(t, ctx, server.BaseURL+"/docs"+operation, `.opblock.is-open .opblock-body`)
	t.Logf("the operation is open after %s and %s of processor time; the introduction needs %s of it", took, used, introduction)
	if took > openTime {
		assert.Less(t, used, 2*introduction, "a slow machine explains no more than this processor time")
	}
	do(t, ctx, "press the first key", chromedp.Navigate(server.BaseURL+"/docs"), chromedp.WaitVisible(`#groups a`, chromedp.ByQuery),
		chromedp.KeyEvent("\t"), chromedp.Evaluate(`document.activeElement.textContent`, &skip))
	assert.Equal(t, "Skip to the operations", skip)
}

// do runs one step of the reader's, and shows the page when it fails.
func do(t *testing.T, ctx context.Context, step string, actions ...chromedp.Action) {
	t.Helper()
	within, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	if err := chromedp.Run(within, actions...); err != nil {
		var picture []byte
		if chromedp.Run(ctx, chromedp.FullScreenshot(&picture, 100)) == nil {
			file := filepath.Join(os.TempDir(), "rotaloom-docs-page-"+t.Name()+".png")
			t.Logf("the page is in %s: %v", file, os.WriteFile(file, picture, 0o600))
		}
		t.Fatalf("%s: %v", step, err)
	}
}

// browse starts a browser that trusts any certificate, with a profile of its own.
func browse(t *testing.T) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium-headless-shell")
	require.NoError(t, err, "tools/need-chromium.sh installs the browser")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program),
		chromedp.Flag("ignore-certificate-errors", true), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.UserDataDir(t.TempDir()),
	)
	// Not the test's context: it ends before the browser can be closed in order.
	ctx, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(stop)
	ctx, _ = chromedp.NewContext(ctx)
	t.Cleanup(func() { assert.NoError(t, chromedp.Cancel(ctx)) })
	require.NoError(t, chromedp.Run(ctx))
	return ctx
}
