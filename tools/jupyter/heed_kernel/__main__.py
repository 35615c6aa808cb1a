"""Starts the kernel: python -m heed_kernel -f CONNECTION-FILE, as kernel.json says."""
from importlib.metadata import version

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

from .find import CellError
from .session import Session


class HeedKernel(Kernel):
    implementation = "heed"
    implementation_version = version("heed-kernel")
    banner = f"heed {implementation_version}: cells of C"
    language_info = {"name": "c", "mimetype": "text/x-csrc", "file_extension": ".c"}

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.cells = Session()

    def publish(self, kind, **content):
        self.send_response(self.iopub_socket, kind, content)

    async def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        def say(stream, text):
            if text and not silent:
                self.publish("stream", name=stream, text=text)

        reply = {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}
        try:
            value = self.cells.run(code, f"In[{self.execution_count}]", say)
        except CellError as error:
            text = str(error).rstrip("\n")
            failure = {"ename": "CellError", "evalue": text, "traceback": [text]}
            if not silent:
                self.publish("error", **failure)
            return {**reply, "status": "error", **failure}
        if value and not silent:
            self.publish("execute_result", execution_count=self.execution_count, data=dict([value]), metadata={})
        return reply

    async def do_shutdown(self, restart):
        self.cells.close()
        return {"status": "ok", "restart": restart}


IPKernelApp.launch_instance(kernel_class=HeedKernel)
