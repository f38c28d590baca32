# SPDX-License-Identifier: MIT
"""A page in Chromium without a window, driven through its debugging pipe."""
import json
import os
import shutil
import subprocess
import tempfile
import time



def starts(program):
    """Whether this is a browser, and not a program that asks for the installation of one (Ubuntu's chromium-browser)."""
    return subprocess.run([program, '--version'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


PROGRAM = next((program for name in ('chromium', 'chromium-browser', 'google-chrome')
                if (program := shutil.which(name)) and starts(program)), None)


class Chromium:
    """A browser whose only way to a network is a proxy that does not exist. Use it in a `with` statement."""

    def __init__(self, width=1200, height=700, dark=False):
        self.directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.requests, self.errors, self.number = [], [], 0
        theirs_in, self.out = os.pipe()
        self.input, theirs_out = os.pipe()

        def take_pipes():
            """They become the descriptors 3 and 4."""
            pipes = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(pipes[0], 3)
            os.dup2(pipes[1], 4)
        # pylint: disable=subprocess-popen-preexec-fn,consider-using-with
        self.process = subprocess.Popen(
            [PROGRAM, '--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe', '--no-first-run',
             '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-extensions',
             '--disable-dev-shm-usage', '--hide-scrollbars', f'--window-size={width},{height}',
             '--proxy-server=127.0.0.1:9', f'--user-data-dir={self.directory.name}'],
            preexec_fn=take_pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.unread = b''
        self.session = None
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.call(domain + '.enable')
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def open(self, path):
        """Opens a page of `cushim trace report`."""
        self.requests.clear()
        self.call('Page.navigate', url='file://' + path)
        while not self.run('document.readyState === "complete" && typeof trace === "object"'):
            time.sleep(0.05)
        self.draw()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for descriptor in (self.input, self.out):
            os.close(descriptor)
        self.directory.cleanup()

    def read(self):
        while b'\0' not in self.unread:
            part = os.read(self.input, 1 << 20)
            if not part:
                raise RuntimeError('Chromium has ended')
            self.unread += part
        message, self.unread = self.unread.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.out, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.read()
            if answer.get('method') == 'Network.requestWillBeSent':
                self.requests.append(answer['params']['request']['url'])
            if answer.get('method') == 'Runtime.exceptionThrown' or (
                    answer.get('method') == 'Log.entryAdded' and answer['params']['entry']['level'] == 'error'):
                self.errors.append(json.dumps(answer['params']))
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']

    def run(self, expression):
        """The value of an expression of the page, which may be a promise."""
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(json.dumps(answer['exceptionDetails']))
        return answer['result'].get('value')

    def draw(self):
        """Waits until what was asked for is drawn."""
        self.run('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')

    def press(self, key):
        self.call('Input.dispatchKeyEvent', type='keyDown', key=key, text=key if len(key) == 1 else '')
        self.call('Input.dispatchKeyEvent', type='keyUp', key=key)
        self.draw()

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def click(self, x, y):
        for kind in ('mousePressed', 'mouseReleased'):
            self.mouse(kind, x, y, button='left', clickCount=1)
        self.draw()
