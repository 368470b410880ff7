// Package apidocs holds the page that shows the API description, in a real
// browser.
package apidocs

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// waitTimeout bounds a step of the browser. The longest takes some three seconds on two processors
// that many tests share.
const waitTimeout = 2 * time.Minute

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

// A reader opens the page, logs in by password, calls an operation and sees the
// response. Nothing is loaded from elsewhere, and nothing offends the page's policy.
func TestPageLogsInAndCalls(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	base, err := url.Parse(server.BaseURL)
	require.NoError(t, err)
	ctx := browse(t)
	seen := &observer{host: base.Host}
	chromedp.ListenTarget(ctx, seen.see)

	const dialog = `//div[contains(@class,"auth-container")][.//*[@id="oauth_username"]]`
	const operation = `//div[contains(@class,"opblock")][.//span[@data-path="/v1/platform/limits"]]`
	var title, response string
	do(t, ctx, "open the page", network.Enable(), log.Enable(), runtime.Enable(),
		chromedp.Navigate(server.BaseURL+"/docs"), chromedp.Text(`.info .title`, &title, chromedp.ByQuery))
	do(t, ctx, "fill in the log-in", chromedp.Click(`.auth-wrapper .authorize`, chromedp.ByQuery),
		chromedp.SendKeys(dialog+`//*[@id="oauth_username"]`, server.Credentials.Username),
		chromedp.SendKeys(dialog+`//*[@id="oauth_password"]`, server.Credentials.Password),
		chromedp.SendKeys(dialog+`//*[@id="client_id_password"]`, server.Credentials.ClientID),
		chromedp.SendKeys(dialog+`//*[@id="client_secret_password"]`, server.Credentials.ClientSecret))
	do(t, ctx, "log in", chromedp.Click(dialog+`//button[contains(@class,"authorize")]`),
		chromedp.WaitVisible(`//div[contains(@class,"auth-container")]//button[text()="Logout"]`),
		chromedp.Click(`.btn-done`, chromedp.ByQuery))
	do(t, ctx, "call an operation", chromedp.Click(`//h3[@data-tag="Platform: limit"]`),
		chromedp.Click(`//span[@data-path="/v1/platform/limits"]`),
		chromedp.Click(operation+`//button[contains(@class,"execute")]`),
		chromedp.Text(operation+`//*[contains(@class,"live-responses-table")]//tbody`, &response))
	assert.Contains(t, title, "Rotaloom")
	assert.Contains(t, response, "bodyBytes")
	seen.mu.Lock()
	defer seen.mu.Unlock()
	assert.Empty(t, seen.problems)
	assert.Greater(t, seen.requests, 4)
}

// do runs one step of the reader's, and shows the page when it fails.
func do(t *testing.T, ctx context.Context, step string, actions ...chromedp.Action) {
	t.Helper()
	within, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	if err := chromedp.Run(within, actions...); err != nil {
		var picture []byte
		if chromedp.Run(ctx, chromedp.FullScreenshot(&picture, 90)) == nil {
			file := filepath.Join(os.TempDir(), "rotaloom-docs-page.jpg")
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
