package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/examples/embed/minilm"
	"github.com/sinter-ml/sinter/examples/internal/golden"
	"github.com/sinter-ml/sinter/examples/internal/models"
	"github.com/sinter-ml/sinter/internal/race"
)

func cases(t *testing.T) []golden.Case {
	t.Helper()
	all, err := golden.Load("../embed/testdata/minilm-golden.json")
	require.NoError(t, err)
	return all
}

var once struct {
	sync.Once
	dev *sinter.Device
	enc *minilm.Encoder
}

// load returns the model as loaded once for all tests, or skips the test if it
// was not fetched.
func load(t *testing.T) (*sinter.Device, *minilm.Encoder) {
	t.Helper()
	dir := models.Dir(t)
	once.Do(func() {
		var err error
		once.dev, err = sinter.Open("cpu", sinter.WithWorkers(2))
		require.NoError(t, err)
		once.enc, err = minilm.Open(context.Background(), once.dev, dir)
		require.NoError(t, err)
	})
	require.NotNil(t, once.enc)
	return once.dev, once.enc
}

func post(client *http.Client, url, body string) (int, []byte, error) {
	resp, err := client.Post(url+"/embed", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(resp.Body)
	return resp.StatusCode, b.Bytes(), err
}

// ask posts the cases' texts and compares the answer.
func ask(t *testing.T, client *http.Client, url string, cases ...golden.Case) {
	t.Helper()
	var req Request
	for _, c := range cases {
		req.Texts = append(req.Texts, c.Text)
	}
	body, err := json.Marshal(req)
	assert.NoError(t, err)
	status, answer, err := post(client, url, string(body))
	if !assert.NoError(t, err) || !assert.Equal(t, http.StatusOK, status, "%s", answer) {
		return
	}
	var resp Response
	assert.NoError(t, json.Unmarshal(answer, &resp))
	if assert.Len(t, resp.Embeddings, len(cases)) {
		for i, c := range cases {
			assert.LessOrEqual(t, c.Distance(resp.Embeddings[i]), 1e-5, "%q", c.Text)
		}
	}
}

// Eight clients at once share the model; afterwards its memory and goroutines
// are what they were.
func TestConcurrentClients(t *testing.T) {
	const clients = 8
	dev, enc := load(t)
	all := cases(t)
	requests := 3
	if race.Enabled || testing.Short() {
		requests = 1
	}
	goroutines := runtime.NumGoroutine()
	inUse := dev.Stats().Memory.InUse
	srv := httptest.NewServer(newHandler(enc, 4))
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for r := range requests {
				i := (c*requests + r) % len(all)
				if race.Enabled {
					ask(t, srv.Client(), srv.URL, all[16+c%2]) // the shortest
				} else {
					ask(t, srv.Client(), srv.URL, all[i], all[(i+5)%len(all)])
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, inUse, dev.Stats().Memory.InUse, "every scope gave its memory back")
	srv.Close()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "%d goroutines, %d before the server", runtime.NumGoroutine(), goroutines)
	}
}

func TestBadRequests(t *testing.T) {
	srv := httptest.NewServer(newHandler(nil, 1)) // nothing reaches the model
	defer srv.Close()
	for name, c := range map[string]struct {
		body   string
		status int
		text   string
	}{
		"not JSON":      {"{", http.StatusBadRequest, "unexpected EOF"},
		"unknown field": {`{"text":"a"}`, http.StatusBadRequest, "unknown field"},
		"wrong type":    {`{"texts":"a"}`, http.StatusBadRequest, "cannot unmarshal string"},
		"no texts":      {`{"texts":[]}`, http.StatusBadRequest, "0 texts"},
		"many texts":    {`{"texts":[` + strings.Repeat(`"a",`, 64) + `"a"]}`, http.StatusBadRequest, "65 texts"},
		"large":         {`{"texts":["` + strings.Repeat("a", maxBytes) + `"]}`, http.StatusRequestEntityTooLarge, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer, err := post(srv.Client(), srv.URL, c.body)
			require.NoError(t, err)
			require.Equal(t, c.status, status)
			var f Failure
			require.NoError(t, json.Unmarshal(answer, &f))
			require.Contains(t, f.Error, c.text)
		})
	}
	resp, err := srv.Client().Get(srv.URL + "/embed")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
}

func TestRunShutsDown(t *testing.T) {
	dir := models.Dir(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ready, done := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		done <- run(ctx, options{addr: "127.0.0.1:0", model: dir, workers: 1, atOnce: 1, grace: time.Minute}, ready)
	}()
	var url string
	select {
	case addr := <-ready:
		url = "http://" + addr.String()
	case err := <-done:
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	resp, err := client.Get(url + "/healthz")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)

	ask(t, client, url, cases(t)[16])
	cancel()
	require.NoError(t, <-done)
	_, _, err = post(client, url, `{"texts":["a"]}`)
	require.Error(t, err, "nobody listens")
}

func TestRunErrors(t *testing.T) {
	require.ErrorContains(t, run(context.Background(), options{model: t.TempDir()}, nil), "vocab.txt")
}

// A request that is open when the server is told to stop is answered.
func TestShutdownFinishesOpenRequests(t *testing.T) {
	_, enc := load(t)
	entered := make(chan struct{})
	inner := newHandler(enc, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		inner.ServeHTTP(w, r)
	}))
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		ask(t, srv.Client(), srv.URL, cases(t)[16])
	}()
	<-entered
	require.NoError(t, srv.Config.Shutdown(context.Background()))
	<-answered
	srv.Close()
}
