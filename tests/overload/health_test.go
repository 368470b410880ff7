package overload

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// adminAddress finds the address of a process's listener for operators in its log.
func adminAddress(t *testing.T, p *launch.Process) (address string) {
	t.Helper()
	line := regexp.MustCompile(`"msg":"admin listener","address":"([^"]+)"`)
	launch.Await(t, 20*time.Second, "the admin listener", func() bool {
		log, err := os.ReadFile(p.Log)
		require.NoError(t, err)
		found := line.FindSubmatch(log)
		if found != nil {
			address = string(found[1])
		}
		return found != nil
	})
	return address
}

// health records the health of the processes.
type health struct {
	looks int
	what  []string
}

// watchHealth checks the health of all processes until ctx ends.
func (w *fixture) watchHealth(ctx context.Context) <-chan health {
	seen := make(chan health, 1)
	client := &http.Client{Timeout: soon}
	go func() {
		defer client.CloseIdleConnections()
		var h health
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for ctx.Err() == nil {
			for name, address := range w.admin {
				for _, path := range []string{"/livez", "/readyz"} {
					h.looks++
					if bad := look(client, "http://"+address+path); bad != "" && len(h.what) < 10 {
						h.what = append(h.what, name+": "+bad)
					}
				}
			}
			<-ticker.C
		}
		seen <- h
	}()
	return seen
}

func look(client *http.Client, url string) string {
	response, err := client.Get(url)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Sprintf("%s returns %d", url, response.StatusCode)
	}
	return ""
}
